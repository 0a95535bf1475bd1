// Groups of some ranks, over ranks that are threads. What needs processes: tests/multiprocess/groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/api/error_text.h"

namespace parley {
namespace {

using testing::error_text;
using ::testing::HasSubstr;
using testing::run_world;

TEST(Group, RanksConvertBetweenTheGroupAndTheWorld) {
  run_world(11, [](ProcessGroup& world) {
    ProcessGroup evens = world.new_group({2, 4, 6, 8, 10}, {.name = "evens"});
    EXPECT_EQ(evens.size(), 5);
    EXPECT_EQ(evens.name(), "evens");
    EXPECT_EQ(evens.global_rank(4), 10);
    EXPECT_EQ(evens.group_rank(10), 4);
    const bool is_even = world.rank() != 0 && world.rank() % 2 == 0;
    EXPECT_EQ(evens.is_member(), is_even);
    EXPECT_EQ(evens.rank(), is_even ? world.rank() / 2 - 1 : -1);
    EXPECT_THAT(error_text<UsageError>([&] { (void)evens.global_rank(5); }), HasSubstr("0 to 4"));
    EXPECT_THAT(error_text<UsageError>([&] { (void)evens.group_rank(3); }),
                HasSubstr("rank 3 of the world is not in group \"evens\" {2, 4, 6, 8, 10}"));
    EXPECT_EQ(world.global_rank(7), 7);
    EXPECT_EQ(world.group_rank(7), 7);
    EXPECT_EQ(world.name(), "world");
    EXPECT_TRUE(world.is_member());
  });
}

TEST(Group, MessagesGoByRanksInTheGroup) {
  run_world(4, [](ProcessGroup& world) {
    ProcessGroup group = world.new_group({3, 0, 2});  // in this order
    if (!group.is_member()) return;
    EXPECT_EQ(group.rank(), world.rank() == 3 ? 0 : world.rank() == 0 ? 1 : 2);
    if (group.rank() == 0) {
      group.send(42, 2, {.tag = 5});
      const RecvStatus status = group.recv(Tensor::zeros({1}, DType::i32), any_source, {.tag = 6});
      EXPECT_EQ(status.source, 2);
      Work work = group.irecv(Tensor::zeros({1}, DType::i32), any_source, {.tag = 7});
      EXPECT_EQ(work.wait().source, 1);
      Message message = group.probe(any_source, {.tag = 8});
      EXPECT_EQ(message.source(), 1);
      EXPECT_EQ(message.recv(Tensor::zeros({1}, DType::i32)).source, 1);
      std::vector<Work> works;
      for (int i = 0; i < 2; ++i) works.push_back(group.irecv(Tensor::zeros({1}, DType::i32), 1, {.tag = 9}));
      wait_all(works);
      for (Work& each : works) EXPECT_EQ(each.source(), 1);
    } else if (group.rank() == 1) {
      for (const int tag : {7, 8, 9, 9}) {
        const int value = 1;
        Work sent = group.isend(value, 0, {.tag = tag});
        EXPECT_EQ(sent.wait().source, 0);
      }
    } else {
      EXPECT_EQ(group.recv<int>(0, {.tag = 5}), 42);
      group.send(43, 0, {.tag = 6});
    }
    group.barrier();
  });
}

TEST(Group, WhatIsSentInOneGroupMatchesInNoOther) {
  run_world(2, [](ProcessGroup& world) {
    ProcessGroup first = world.dup({.name = "first"});
    ProcessGroup second = world.dup();
    const int other = 1 - world.rank();
    second.send(2, other);
    world.send(0, other);
    first.send(1, other);
    EXPECT_EQ(first.recv<int>(other), 1);
    EXPECT_EQ(second.recv<int>(any_source, {.tag = any_tag}), 2);
    EXPECT_EQ(world.recv<int>(other), 0);
    EXPECT_FALSE(first.iprobe(any_source, {.tag = any_tag}));
  });
}

TEST(Group, OfAGroupTakesRanksOfThatGroup) {
  run_world(6, [](ProcessGroup& world) {
    ProcessGroup odds = world.new_group({5, 3, 1});
    if (!odds.is_member()) return;
    ProcessGroup pair = odds.new_group({0, 2});
    EXPECT_EQ(pair.is_member(), world.rank() != 3);
    EXPECT_EQ(pair.global_rank(0), 5);
    EXPECT_EQ(pair.global_rank(1), 1);
    if (pair.is_member()) {
      EXPECT_EQ(pair.sendrecv(world.rank(), 1 - pair.rank(), 1 - pair.rank()), world.rank() == 5 ? 1 : 5);
    }
  });
}

TEST(Group, SplitsByColorAndOrdersByKey) {
  run_world(7, [](ProcessGroup& world) {
    // Rank 6 wants to be in none.
    ProcessGroup part = world.split(world.rank() == 6 ? -1 : world.rank() % 2, -world.rank());
    if (world.rank() == 6) {
      EXPECT_FALSE(part.is_member());
      EXPECT_EQ(part.size(), 0);
      return;
    }
    ASSERT_EQ(part.size(), 3);
    for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(part.global_rank(rank), 4 + world.rank() % 2 - 2 * rank);
    part.barrier();
    ProcessGroup again = part.split(0);  // without a key: as before
    for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(again.global_rank(rank), part.global_rank(rank));
    // Ranks that are threads have one host.
    ProcessGroup host = part.split_by_host();
    EXPECT_EQ(host.size(), 3);
    EXPECT_EQ(host.rank(), part.rank());
  });
}

TEST(Group, SaysWhatIsWrongWithAList) {
  run_world(2, [](ProcessGroup& world) {
    const auto text = [&](std::initializer_list<int> ranks) {
      return error_text<UsageError>([&] { (void)world.new_group(ranks); });
    };
    EXPECT_THAT(text({}), HasSubstr("empty"));
    EXPECT_THAT(text({0, 2}), HasSubstr("rank 2 is out of range: valid ranks are 0 to 1"));
    EXPECT_THAT(text({-1}), HasSubstr("rank -1 is out of range"));
    EXPECT_THAT(text({1, 0, 1}), HasSubstr("the list {1, 0, 1} has rank 1 more than once"));
    EXPECT_THAT(error_text<UsageError>([&] { (void)world.dup({.name = "two\nlines"}); }),
                HasSubstr("one line"));
    EXPECT_THAT(error_text<UsageError>([&] { (void)ProcessGroup().new_group({0}); }), HasSubstr("empty"));
  });
}

TEST(Group, WhoIsNoMemberIsToldSo) {
  run_world(3, [](ProcessGroup& world) {
    ProcessGroup group = world.new_group({0, 2}, {.name = "ends"});
    if (group.is_member()) {
      EXPECT_THAT(error_text<UsageError>([&] { group.send(1, 2); }), HasSubstr("valid ranks are 0 to 1"));
      return;
    }
    int value = 0;
    const std::string why = "rank 1 of the world is not in group \"ends\" {0, 2}";
    EXPECT_THAT(error_text<UsageError>([&] { group.send(value, 0); }), HasSubstr("send: " + why));
    EXPECT_THAT(error_text<UsageError>([&] { (void)group.recv<int>(0); }), HasSubstr("recv: " + why));
    EXPECT_THAT(error_text<UsageError>([&] { (void)group.isend(value, 0); }), HasSubstr("isend: " + why));
    EXPECT_THAT(error_text<UsageError>([&] { (void)group.irecv(value, 0); }), HasSubstr("irecv: " + why));
    EXPECT_THAT(error_text<UsageError>([&] { (void)group.probe(0); }), HasSubstr(why));
    EXPECT_THAT(error_text<UsageError>([&] { (void)group.iprobe(0); }), HasSubstr(why));
    EXPECT_THAT(error_text<UsageError>([&] { group.barrier(); }), HasSubstr(why));
    EXPECT_THAT(error_text<UsageError>([&] { group.abort("why"); }), HasSubstr(why));
    EXPECT_THAT(error_text<UsageError>([&] { group.acknowledge_failures(); }), HasSubstr(why));
    EXPECT_THAT(error_text<UsageError>([&] { (void)group.split(0); }), HasSubstr(why));
    EXPECT_THAT(error_text<UsageError>([&] { (void)group.dup(); }), HasSubstr(why));
    EXPECT_THAT(error_text<UsageError>([&] { (void)group.split_by_host(); }), HasSubstr(why));
    EXPECT_THAT(error_text<UsageError>([&] { (void)group.describe_plan("barrier", 0); }), HasSubstr(why));
    EXPECT_THAT(group.describe(), HasSubstr("group \"ends\" {0, 2} of the world"));
    // What it may call.
    EXPECT_EQ(group.rank(), -1);
    EXPECT_EQ(group.size(), 2);
    EXPECT_EQ(group.name(), "ends");
    EXPECT_EQ(group.global_rank(1), 2);
    EXPECT_EQ(group.group_rank(2), 1);
    EXPECT_EQ(group.local_rank(), world.local_rank());
    EXPECT_EQ(group.fd(), world.fd());
    (void)group.progress();
    EXPECT_EQ(group.shared_tensor({3}).numel(), 3);
    EXPECT_FALSE(group.new_group({0, 1}).is_member());
  });
}

TEST(Group, MembersThatDifferAreShownBoth) {
  run_world(2, [](ProcessGroup& world) {
    const bool first = world.rank() == 0;
    const std::string order = error_text<MismatchError>([&] {
      (void)(first ? world.new_group({0, 1}) : world.new_group({1, 0}));
    });
    EXPECT_THAT(order, HasSubstr("rank 0 ("));
    EXPECT_THAT(order, HasSubstr("calls new_group({0, 1}), rank 1 ("));
    EXPECT_THAT(order, HasSubstr("calls new_group({1, 0})"));
    const std::string name = error_text<MismatchError>([&] { (void)world.dup({.name = first ? "a" : "b"}); });
    EXPECT_THAT(name, HasSubstr("calls new_group({0, 1}, \"a\")"));
    EXPECT_THAT(name, HasSubstr("calls new_group({0, 1}, \"b\")"));
    EXPECT_EQ(world.dup().size(), 2) << "and then they go on";
  });
}

TEST(Group, WhoDoesNotComeIsNamedAtTheDeadline) {
  run_world(3, [](ProcessGroup& world) {
    const GroupOptions options{.name = {}, .timeout = std::chrono::milliseconds(50)};
    if (world.rank() != 2) {
      const std::string text = error_text<TimeoutError>([&] { (void)world.new_group({0, 1, 2}, options); });
      EXPECT_THAT(text, HasSubstr("new_group({0, 1, 2}) timed out: rank 2 ("));
      EXPECT_THAT(text, HasSubstr(") has not called it"));
    }
    world.barrier();
    if (world.rank() == 2) {  // too late, and told the same
      const std::string text = error_text<TimeoutError>([&] { (void)world.new_group({0, 1, 2}, options); });
      EXPECT_THAT(text, HasSubstr("rank 2 ("));
    }
    world.barrier();
    EXPECT_EQ(world.new_group({0, 1, 2}).size(), 3);
  });
}

TEST(Group, ARankLeavesWithItsLastHandleAndOperation) {
  run_world(2, [](ProcessGroup& world) {
    ProcessGroup group = world.dup({.name = "short"});
    if (world.rank() == 0) {
      group.send(1, 1);
      std::vector<char> last(1 << 20, 'x');
      Work pending = group.isend(last, 1);
      group = ProcessGroup();
      pending.wait();  // had to be received first
    } else {
      EXPECT_EQ(group.recv<int>(0), 1);
      std::vector<char> last(1 << 20);
      group.recv(last, 0);
      EXPECT_EQ(last, std::vector<char>(1 << 20, 'x'));
      const std::string text = error_text<PeerLeftError>([&] { (void)group.recv<int>(0); });
      EXPECT_THAT(text, HasSubstr("in group \"short\" {0, 1} failed: rank 0 ("));
      EXPECT_THAT(text, HasSubstr("has left the group"));
      EXPECT_THAT(error_text<PeerLeftError>([&] { group.send(last, 0); }), HasSubstr("has left the group"));
      EXPECT_THAT(error_text<PeerLeftError>([&] { (void)group.probe(0); }), HasSubstr("has left the group"));
    }
    world.barrier();  // the world is as it was
  });
}

TEST(Group, AnAbortEndsOneGroupAlone) {
  run_world(3, [](ProcessGroup& world) {
    ProcessGroup group = world.new_group({0, 1}, {.name = "doomed"});
    ProcessGroup other = world.dup();
    if (group.is_member()) {
      if (group.rank() == 0) group.abort("enough");
      const std::string text = error_text<AbortedError>([&] { (void)group.recv<int>(1 - group.rank()); });
      EXPECT_THAT(text, HasSubstr("enough"));
      EXPECT_THAT(error_text<AbortedError>([&] { group.barrier(); }), HasSubstr("enough"));
    }
    other.barrier();
    EXPECT_EQ(world.sendrecv(world.rank(), (world.rank() + 1) % 3, (world.rank() + 2) % 3),
              (world.rank() + 2) % 3);
  });
}

// Overlapping groups, made by several threads of each rank at once, in no common order.
TEST(Group, ThreadsMakeAndUseGroupsAtOnce) {
  run_world(4, [](ProcessGroup& world) {
    const auto work = [&world](const std::vector<int>& ranks, int rounds) {
      for (int round = 0; round < rounds; ++round) {
        ProcessGroup group = world.new_group(ranks);
        const int size = group.size();
        for (int i = 0; i < 5; ++i)
          EXPECT_EQ(
              group.sendrecv(group.rank() + i, (group.rank() + 1) % size, (group.rank() + size - 1) % size),
              (group.rank() + size - 1) % size + i);
        group.barrier();
      }
    };
    std::vector<std::thread> threads;
    const std::vector<std::vector<int>> lists{{0, 1, 2, 3}, {3, 1}, {0, 2, 3}, {1, 0}};
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const auto& list = lists[(i + static_cast<std::size_t>(world.rank())) % lists.size()];
      if (std::find(list.begin(), list.end(), world.rank()) != list.end())
        threads.emplace_back(work, list, 10);
    }
    for (std::thread& thread : threads) thread.join();
  });
}

TEST(Group, OneRankIsAGroupToo) {
  run_world(2, [](ProcessGroup& world) {
    ProcessGroup alone = world.split(world.rank());
    EXPECT_EQ(alone.size(), 1);
    EXPECT_EQ(alone.rank(), 0);
    alone.send(world.rank() + 10, 0);
    EXPECT_EQ(alone.recv<int>(0), world.rank() + 10);
    alone.barrier();
  });
  ProcessGroup world = init("env://");
  EXPECT_EQ(world.dup().size(), 1);
  world = ProcessGroup();
  destroy();
}

// Numbers are not used twice: what was never received in one group is not found in the next.
TEST(Group, NoMessageReachesALaterGroup) {
  run_world(2, [](ProcessGroup& world) {
    const std::vector<char> longer(20'000);
    for (int round = 0; round < 200; ++round) {
      ProcessGroup group = world.dup();
      const int other = 1 - group.rank();
      for (int copy = 0; copy < 2; ++copy) group.send(round, other);  // one is for nobody
      if (round % 2 == 0) group.send(longer, other, {.tag = 1});
      EXPECT_EQ(group.recv<int>(any_source, {.tag = any_tag}), round);
      group.barrier();
    }
  });
}

TEST(Group, PartsOfASplitHaveOneNameEach) {
  run_world(4, [](ProcessGroup& world) {
    const int color = world.rank() / 2;
    const std::string name = world.rank() == 3 ? "other" : "part";
    if (color == 0) {
      ProcessGroup part = world.split(color, 0, {.name = name});
      EXPECT_EQ(part.name(), "part");
      EXPECT_EQ(part.split(part.rank()).size(), 1);
    } else {
      const std::string text =
          error_text<MismatchError>([&] { (void)world.split(color, 0, {.name = name}); });
      EXPECT_THAT(text, HasSubstr("split() of color 1 failed: rank 2 ("));
      EXPECT_THAT(text, HasSubstr("\"other\""));
    }
    world.barrier();
    ProcessGroup half = world.split(color);
    ProcessGroup alone = half.split(half.rank());  // at the same time in both halves
    EXPECT_EQ(alone.size(), 1);
    half.barrier();
  });
}

}  // namespace
}  // namespace parley
