// How collectives fail: for all ranks of the group, each told why. What needs processes:
// tests/multiprocess/collectives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <latch>
#include <string>
#include <vector>

#include "tests/unit/api/error_text.h"

namespace parley {
namespace {

using namespace std::chrono_literals;
using testing::error_text;
using ::testing::HasSubstr;
using testing::run_world;
using Call = std::function<void(ProcessGroup&)>;

Call all_reduce(std::int64_t count, DType dtype, ReduceOp op) {
  return [=](ProcessGroup& group) { group.all_reduce(Tensor::zeros({count}, dtype), {.op = op}); };
}
Call in_rank_order(std::int64_t count) {
  return [=](ProcessGroup& group) {
    group.all_reduce(Tensor::zeros({count}, DType::f32), {.determinism = Determinism::rank_order});
  };
}
ReduceOp custom_sum(bool commutative) {
  return ReduceOp::custom(
      [](void* result, const void* left, const void* right, std::size_t count, DType) {
        const auto *one = static_cast<const float*>(left), *other = static_cast<const float*>(right);
        for (std::size_t i = 0; i < count; ++i) static_cast<float*>(result)[i] = one[i] + other[i];
      },
      commutative);
}
Call barrier() {
  return [](ProcessGroup& group) { group.barrier(); };
}
Call broadcast(std::int64_t count, DType dtype, int root) {
  return [=](ProcessGroup& group) { group.broadcast(Tensor::zeros({count}, dtype), root); };
}

// A rank may have returned before anybody notices: then it learns it at one of its next calls.
void call_until_told(ProcessGroup& group, const Call& first) {
  first(group);
  for (int later = 0; later < 10'000; ++later) all_reduce(1, DType::i32, ReduceOp::sum)(group);
}

// " failed: ..."
std::string outcome_of(const std::string& text) {
  return text.substr(std::min(text.size(), text.find(" failed:")));
}

struct Pair {
  const char* differs;
  Call most, odd;              // the calls of all ranks but one, and of that one
  const char *first, *second;  // in the text, in any order
  int least_size = 2;
};

std::vector<Pair> pairs() {
  const auto sum = ReduceOp::sum;
  return {
      {"operation", all_reduce(8, DType::f32, sum), broadcast(8, DType::f32, 0), "all_reduce(sum) of",
       "broadcast of"},
      {"operation, a barrier", all_reduce(8, DType::f32, sum), barrier(), "all_reduce(sum) of", "barrier"},
      {"operation, all but one a barrier", barrier(), broadcast(8, DType::f32, 0), "barrier", "broadcast of"},
      {"operation, of the root", broadcast(8, DType::f32, 3), all_reduce(8, DType::f32, sum),
       "all_reduce(sum) of", "broadcast of", 4},
      {"count", all_reduce(8, DType::f32, sum), all_reduce(9, DType::f32, sum), "of another number of f32",
       "all_reduce(sum) of"},
      {"count, of much", all_reduce(300'000, DType::f32, sum), all_reduce(1, DType::f32, sum),
       "of another number of f32", "all_reduce(sum) of"},
      {"count, of nothing", all_reduce(8, DType::f32, sum), all_reduce(0, DType::f32, sum),
       "of another number of f32", "all_reduce(sum) of"},
      {"count of a broadcast", broadcast(8, DType::f32, 1), broadcast(7, DType::f32, 1),
       "of another number of f32", "broadcast of"},
      {"dtype", all_reduce(8, DType::f32, sum), all_reduce(8, DType::i32, sum), "f32", "i32"},
      {"dtype, of another size", all_reduce(8, DType::f32, sum), all_reduce(8, DType::f64, sum), "f32",
       "f64"},
      {"dtype of a broadcast", broadcast(8, DType::f32, 3), broadcast(4, DType::f64, 3), "f32", "f64", 4},
      {"reduction", all_reduce(8, DType::f32, sum), all_reduce(8, DType::f32, ReduceOp::max),
       "all_reduce(sum) of", "all_reduce(max) of"},
      {"order", all_reduce(8, DType::f32, sum), in_rank_order(8), "all_reduce(sum) of",
       "all_reduce(sum in rank order) of"},
      {"order, of much", in_rank_order(300'000), all_reduce(300'000, DType::f32, sum), "all_reduce(sum) of",
       "all_reduce(sum in rank order) of"},
      {"whether it commutes", all_reduce(8, DType::f32, custom_sum(true)),
       all_reduce(8, DType::f32, custom_sum(false)), "all_reduce(custom) of",
       "all_reduce(custom, which does not commute) of"},
      {"root", broadcast(8, DType::f32, 0), broadcast(8, DType::f32, 2), "from rank 0", "from rank 2", 4},
      {"root, each its own", broadcast(8, DType::f32, 0), broadcast(8, DType::f32, 3), "from rank 0",
       "from rank 3", 4},
  };
}

TEST(CollectiveMismatch, AllRanksAreShownBothCalls) {
  for (const Pair& pair : pairs())
    for (const int size : {2, 4, 5}) {
      if (size < pair.least_size) continue;
      run_world(size, [&](ProcessGroup& world) {
        const bool is_odd = world.rank() == size - 1;
        const auto text =
            error_text<MismatchError>([&] { call_until_told(world, is_odd ? pair.odd : pair.most); });
        EXPECT_THAT(text,
                    HasSubstr("in the collectives of the world failed: ranks have called different things"))
            << pair.differs << ", " << size << " ranks";
        EXPECT_THAT(text, HasSubstr(pair.first)) << pair.differs << ", " << size << " ranks";
        EXPECT_THAT(text, HasSubstr(pair.second)) << pair.differs << ", " << size << " ranks";
        EXPECT_THAT(text, HasSubstr("(call 0 of the group)")) << pair.differs << ", " << size << " ranks";
        // Later calls are told the same; what is sent from rank to rank goes on.
        EXPECT_EQ(outcome_of(error_text<MismatchError>([&] { pair.most(world); })), outcome_of(text));
        const int above = (world.rank() + 1) % size;
        EXPECT_EQ(world.sendrecv(world.rank(), above, (world.rank() + size - 1) % size),
                  (world.rank() + size - 1) % size);
      });
    }
}

TEST(CollectiveMismatch, OfTwoRootsThatBothOnlySendIsFoundLater) {
  run_world(2, [](ProcessGroup& world) {
    const auto text =
        error_text<MismatchError>([&] { call_until_told(world, broadcast(8, DType::f32, world.rank())); });
    EXPECT_THAT(text, HasSubstr("broadcast of 8 f32 from rank "));
    EXPECT_THAT(text, HasSubstr("from rank 0"));
    EXPECT_THAT(text, HasSubstr("from rank 1"));
  });
}

TEST(CollectiveMismatch, EndsAsynchronousCallsToo) {
  run_world(3, [](ProcessGroup& world) {
    const Tensor data = Tensor::zeros({world.rank() == 1 ? 6 : 5}, DType::f32);
    std::vector<Work> works;
    for (int i = 0; i < 10; ++i) works.push_back(world.all_reduce(data, {.async_op = true}));
    EXPECT_THAT(error_text<MismatchError>([&] {
                  wait_all(works);
                  call_until_told(world, all_reduce(1, DType::f32, ReduceOp::sum));
                }),
                HasSubstr("of another number of f32"));
  });
}

TEST(CollectiveTimeout, NamesTheRankThatNeverComes) {
  std::latch over(1);
  run_world(2, [&](ProcessGroup& world) {
    const Tensor data = Tensor::zeros({8}, DType::f32);
    if (world.rank() == 0) {
      const auto call = [&] { world.all_reduce(data, {.timeout = 30ms}); };
      const auto text = error_text<TimeoutError>(call);
      EXPECT_THAT(text, HasSubstr("rank 0: all_reduce in the collectives of the world timed out after "));
      EXPECT_THAT(text, HasSubstr("all_reduce(sum) of 8 f32 (call 0 of the group); it waited for rank 1"));
      EXPECT_THAT(error_text<TimeoutError>(call),
                  HasSubstr("it has timed out here before: all_reduce(sum) of 8 f32"));
      over.count_down();
    } else {
      over.wait();
      const auto text =
          error_text<AbortedError>([&] { call_until_told(world, all_reduce(8, DType::f32, ReduceOp::sum)); });
      EXPECT_THAT(text, HasSubstr("was given up by rank 0 ("));
      EXPECT_THAT(text, HasSubstr("where the deadline has passed: all_reduce(sum) of 8 f32 (call 0 of the "
                                  "group); it waited for rank 1"));
    }
  });
}

TEST(CollectiveTimeout, OfAWaitLeavesTheCollectiveUnderWay) {
  run_world(3, [&](ProcessGroup& world) {
    const Tensor data = Tensor::ones({8}, DType::f32);
    if (world.rank() == 2) world.recv<int>(0);
    Work work = world.all_reduce(data, {.async_op = true});
    if (world.rank() == 0) {
      const auto text = error_text<TimeoutError>([&] { work.wait(10ms); });
      EXPECT_THAT(text, HasSubstr("all_reduce in the collectives of the world timed out after 10 ms"));
      EXPECT_THAT(text, HasSubstr("still pending"));
      world.send(1, 2);
    }
    work.wait();
    EXPECT_EQ(data.data_as<float>()[7], 3) << data;
  });
}

TEST(CollectiveAbort, TellsTheReasonOfTheUser) {
  for (const bool is_named_oddly : {false, true}) {
    run_world(4, [&](ProcessGroup& world) {
      const char* reason = is_named_oddly ? "" : "the disk is full";
      const auto text = error_text<AbortedError>([&] {
        if (world.rank() == 3) world.abort(reason);
        call_until_told(world, all_reduce(8, DType::f32, ReduceOp::sum));
      });
      EXPECT_THAT(text, HasSubstr("in the collectives of the world was aborted by rank 3 ("));
      EXPECT_THAT(text, HasSubstr(reason));
    });
  }
}

TEST(CollectiveLeaving, NamesTheMemberThatHasLeftTheGroup) {
  run_world(4, [](ProcessGroup& world) {
    ProcessGroup group = world.dup({.name = "four"});
    all_reduce(8, DType::f32, ReduceOp::sum)(group);
    world.barrier();  // not the group's: the abort of a later call there would end it, too
    if (world.rank() == 2) {
      group = ProcessGroup();
    } else {
      try {
        call_until_told(group, all_reduce(8, DType::f32, ReduceOp::sum));
        ADD_FAILURE() << "no error";
      } catch (const PeerLeftError& error) {
        EXPECT_EQ(error.details().culprit, 2) << error.what();
        EXPECT_THAT(error.what(), HasSubstr("all_reduce in the collectives of group \"four\""));
        EXPECT_THAT(error.what(), HasSubstr("failed: rank 2 ("));
        EXPECT_THAT(error.what(), HasSubstr("has left the group"));
      }
    }
    // The world is as it was.
    const Tensor data = Tensor::ones({3}, DType::i32);
    world.all_reduce(data);
    world.barrier();
  });
}

TEST(CollectiveDeath, IsToldByAllSurvivorsAndByTheirLaterCalls) {
  for (const std::uint64_t after : {6U, 20U, 50U}) {
    const testing::WorldOptions options{
        .faults = {.seed = after, .dead_rank = 1, .dead_after_packets = after}};
    const auto run = [&] {
      run_world(
          4,
          [&](ProcessGroup& world) {
            try {
              call_until_told(world, all_reduce(3000, DType::f32, ReduceOp::sum));
            } catch (const PeerDiedError& error) {
              if (world.rank() == 1) throw;
              EXPECT_EQ(error.details().culprit, 1) << error.what();
              EXPECT_THAT(error.what(),
                          HasSubstr("all_reduce in the collectives of the world failed: rank 1 ("));
              EXPECT_THAT(error_text<PeerDiedError>([&] { broadcast(2, DType::i8, 0)(world); }),
                          HasSubstr("broadcast in the collectives of the world failed: rank 1 ("));
            }
          },
          options);
    };
    EXPECT_THROW(run(), Error);
  }
}

}  // namespace
}  // namespace parley
