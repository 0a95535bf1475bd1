// The group operations on objects, over ranks that are threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/objects.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/api/error_text.h"

namespace parley {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using testing::error_text;
using ::testing::HasSubstr;
using testing::run_world;
using Objects = std::vector<Object>;
using Call = std::function<void(ProcessGroup&)>;

// So many bytes as it travels alone: its number, its size, two quotation marks.
Object text_of_bytes(std::size_t bytes) {
  return std::string(bytes - 18, 'x');
}

TEST(ObjectCollectives, GiveEachRankItsObjects) {
  run_world(5, [](ProcessGroup& world) {
    const int rank = world.rank();
    for (int root = 0; root < 5; ++root) {
      Objects list;
      if (rank == root) list = {{"from", root}, root};
      broadcast_object_list(world, list, root);
      EXPECT_EQ(list, (Objects{{"from", root}, root}));
      const Objects gathered = gather_object(world, {rank, root}, root);
      ASSERT_EQ(gathered.size(), rank == root ? 5U : 0U);
      for (std::size_t i = 0; i < gathered.size(); ++i) EXPECT_EQ(gathered[i], (Object{i, root}));
      Objects each;
      for (int i = 0; rank == root && i < 5; ++i) each.push_back(10 * root + i);
      EXPECT_EQ(scatter_object_list(world, each, root), 10 * root + rank);
    }
    const Objects all = all_gather_object(world, std::string(static_cast<std::size_t>(rank), 'x'));
    ASSERT_EQ(all.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(all[i], std::string(i, 'x'));
  });
}

Call broadcast(int source) {
  return [=](ProcessGroup& group) {
    Objects list{1};
    broadcast_object_list(group, list, source);
  };
}
Call gather(int destination) {
  return [=](ProcessGroup& group) { (void)gather_object(group, 1, destination); };
}
Call scatter(int source) {
  return [=](ProcessGroup& group) {
    (void)scatter_object_list(group, Objects(static_cast<std::size_t>(group.size()), 1), source);
  };
}
void all_gather(ProcessGroup& group) {
  (void)all_gather_object(group, 1);
}

TEST(ObjectCollectives, OfRanksThatCallDifferentOnesShowBothToAll) {
  struct Pair {
    Call most, odd;
    const char *first, *second;
  };
  const std::vector<Pair> pairs{
      {broadcast(0), gather(1), "broadcast_object_list from rank 0", "gather_object to rank 1"},
      {broadcast(0), broadcast(1), "broadcast_object_list from rank 0", "broadcast_object_list from rank 1"},
      {gather(2), gather(0), "gather_object to rank 2", "gather_object to rank 0"},
      {scatter(0), scatter(2), "scatter_object_list from rank 0", "scatter_object_list from rank 2"},
      {all_gather, gather(0), "all_gather_object", "gather_object to rank 0"},
      {all_gather, [](ProcessGroup& group) { group.barrier(); }, "all_gather_object", "barrier"},
      // Its messages are as large as the first ones of the other's.
      {all_gather,
       [](ProcessGroup& group) {
         group.all_gather_into_tensor(Tensor::zeros({48}, DType::bytes), Tensor::zeros({16}, DType::bytes));
       },
       "all_gather_object", "all_gather of "},
  };
  for (const Pair& pair : pairs)
    run_world(3, [&](ProcessGroup& world) {
      const auto text = error_text<MismatchError>([&] { (world.rank() == 1 ? pair.odd : pair.most)(world); });
      EXPECT_THAT(text, HasSubstr("in the collectives of the world failed: ranks have called different"));
      EXPECT_THAT(text, AllOf(HasSubstr(pair.first), HasSubstr(pair.second)));
    });
}

// What has a taker whose limit is too low goes to nobody.
TEST(ObjectCollectives, BeyondALimitAreRefusedOnAllRanksWhichGoOn) {
  run_world(4, [](ProcessGroup& world) {
    const int rank = world.rank();
    const ObjectOptions low{.max_bytes = rank == 2 ? std::size_t{999} : std::size_t{5000}};
    const auto expect_refused = [&](const Call& call, int giver) {
      const auto text = error_text<ObjectError>([&] { call(world); });
      EXPECT_THAT(text, HasSubstr("a list of objects from rank " + std::to_string(giver) + " ("));
      EXPECT_THAT(text, HasSubstr("it has 1000 bytes, beyond max_bytes, 999"));
      EXPECT_THAT(text, HasSubstr(rank == 2 ? "max_bytes, 999" : "max_bytes, 999 of rank 2 ("));
      EXPECT_EQ(all_gather_object(world, rank), (Objects{0, 1, 2, 3}));
    };
    const Object mine = rank == 1 ? text_of_bytes(1000) : Object(rank);
    Objects list{mine};
    expect_refused([&](ProcessGroup& group) { broadcast_object_list(group, list, 1, low); }, 1);
    EXPECT_EQ(list, Objects{mine});
    expect_refused([&](ProcessGroup& group) { (void)gather_object(group, mine, 2, low); }, 1);
    expect_refused([&](ProcessGroup& group) { (void)all_gather_object(group, mine, low); }, 1);
    const Objects each{1, 2, text_of_bytes(1000), 4};
    expect_refused([&](ProcessGroup& group) { (void)scatter_object_list(group, each, 3, low); }, 3);
    // What is within the limit of its own taker is not refused for another one's.
    EXPECT_EQ(gather_object(world, mine, 0, low).size(), rank == 0 ? 4U : 0U);
    const Objects other{text_of_bytes(1000), 2, 3, 4};
    EXPECT_EQ(scatter_object_list(world, other, 3, low), other[static_cast<std::size_t>(rank)]);
  });
}

// Its mistake is its own error, and all others are told of it: none of them is left in a call that the next
// one of that rank would answer.
TEST(ObjectCollectives, OfARankThatCannotGiveEndOnAllWhichGoOn) {
  struct Case {
    Object object;  // that cannot be sent
    ObjectOptions options;
    const char* why;
  };
  const std::vector<Case> cases{{text_of_bytes(1000), {.max_bytes = 999}, "1000 bytes is beyond max_bytes"},
                                {Object::parse("[[1]]"), {.max_depth = 1}, "deeper than max_depth"},
                                {"\xff", {}, "cannot be sent as JSON"}};
  run_world(3, [&](ProcessGroup& world) {
    const int rank = world.rank();
    const auto expect_end = [&](const Call& call, const char* why) {
      if (rank == 1) {
        EXPECT_THAT(error_text<UsageError>([&] { call(world); }), HasSubstr(why));
      } else {
        EXPECT_THAT(error_text<ObjectError>([&] { call(world); }),
                    AllOf(HasSubstr("a list of objects from rank 1 ("), HasSubstr("it cannot be sent")));
      }
      EXPECT_EQ(all_gather_object(world, rank), (Objects{0, 1, 2}));
    };
    for (const Case& bad : cases) {
      const Object mine = rank == 1 ? bad.object : Object(rank);
      const ObjectOptions& options = bad.options;
      const char* const why = bad.why;
      Objects list{mine};
      expect_end([&](ProcessGroup& group) { broadcast_object_list(group, list, 1, options); }, why);
      EXPECT_EQ(list, Objects{mine});
      for (const int root : {0, 1})
        expect_end([&](ProcessGroup& group) { (void)gather_object(group, mine, root, options); }, why);
      expect_end([&](ProcessGroup& group) { (void)all_gather_object(group, mine, options); }, why);
      const Objects each{1, 2, mine};
      expect_end([&](ProcessGroup& group) { (void)scatter_object_list(group, each, 1, options); }, why);
    }
    for (const std::size_t count : {0U, 2U, 4U})
      expect_end([&](ProcessGroup& group) { (void)scatter_object_list(group, Objects(count, 1), 1); },
                 "objects for 3 ranks");
  });
}

TEST(ObjectCollectives, OfWhatIsNoJsonAreAnErrorOfThoseWhoReadIt) {
  run_world(3, [](ProcessGroup& world) {
    const std::string text = world.rank() == 1 ? "{\"a\": [1, 2" : "1";
    const auto read = [&](const std::vector<std::string>& texts) {
      return error_text<ObjectError>([&] { (void)detail::objects_of_ranks(world, texts); });
    };
    EXPECT_THAT(read(detail::all_gather_texts(world, {{text}}, {})),
                AllOf(HasSubstr("from rank 1"), HasSubstr("no JSON")));
    const std::vector<std::string> gathered = detail::gather_texts(world, {{text}}, 2, {});
    EXPECT_EQ(gathered.size(), world.rank() == 2 ? 3U : 0U);
    if (!gathered.empty()) {
      EXPECT_THAT(read(gathered), HasSubstr("from rank 1"));
    }
    Objects list;
    const auto take = [&] { broadcast_object_list(world, list, 1, {}); };
    if (world.rank() == 1) {
      (void)detail::broadcast_texts(world, {{text}}, 1, {});
    } else {
      EXPECT_THAT(error_text<ObjectError>(take), AllOf(HasSubstr("from rank 1"), HasSubstr("no JSON")));
    }
    EXPECT_EQ(all_gather_object(world, 7), (Objects{7, 7, 7}));
  });
}

TEST(ObjectCollectives, NestedTooDeepAreAnErrorOfThoseWhoReadThem) {
  run_world(3, [](ProcessGroup& world) {
    const Object nested = Object::parse("[[[[1]]]]");
    const ObjectOptions options{.max_depth = world.rank() == 2 ? 3 : 64};
    Objects list{nested};
    const auto call = [&] { broadcast_object_list(world, list, 0, options); };
    if (world.rank() == 2) {
      EXPECT_THAT(error_text<ObjectError>(call),
                  AllOf(HasSubstr("from rank 0"), HasSubstr("it nests 4 deep, beyond max_depth, 3")));
    } else {
      call();
    }
    EXPECT_EQ(all_gather_object(world, nested)[1], nested);
  });
}

TEST(ObjectCollectives, TimeOutNamingWhoDoesNotCome) {
  run_world(3, [](ProcessGroup& world) {
    if (world.rank() == 1) return (void)world.recv<int>(0);
    try {
      (void)all_gather_object(world, 1, {.timeout = 30ms});
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("all_gather_object in the collectives of the world "));
      EXPECT_THAT(error.what(), HasSubstr("all_gather_object (call 0 of the group); it waited for rank"));
    }
    if (world.rank() == 0) world.send(1, 1);
  });
}

TEST(ObjectCollectives, NameAMemberThatHasDied) {
  for (const std::uint64_t after : {6U, 20U, 50U}) {
    const testing::WorldOptions options{
        .faults = {.seed = after, .dead_rank = 1, .dead_after_packets = after}};
    const auto run = [&] {
      run_world(
          4,
          [](ProcessGroup& world) {
            try {
              for (int i = 0; i < 10'000; ++i) (void)all_gather_object(world, std::string(2000, 'x'));
              ADD_FAILURE() << "no error";
            } catch (const PeerDiedError& error) {
              if (world.rank() == 1) throw;
              EXPECT_EQ(error.details().culprit, 1) << error.what();
              EXPECT_THAT(error.what(), HasSubstr("all_gather_object in the collectives of the world failed: "
                                                  "rank 1 ("));
            }
          },
          options);
    };
    EXPECT_THROW(run(), Error);
  }
}

}  // namespace
}  // namespace parley
