// What torch.distributed says of these functions, sentence by sentence: where Parley does the same, and where
// it does better. Each test begins with the sentence. Parley's ranks are always those of the group of the
// call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/api/error_text.h"
#include "tests/unit/api/pair.h"

namespace parley {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using testing::error_text;
using ::testing::HasSubstr;
using testing::run_pair;
using testing::run_world;

const std::vector<int> two_numbers{1, 2};

// ---- ranks and groups

// "dst and src are global ranks regardless of group; group_dst and group_src are ranks in the group." Parley:
// one kind of rank, that of the group, and two functions between the kinds.
TEST(TorchGroups, RanksInCallsAreThoseOfTheGroup) {
  run_world(3, [](ProcessGroup& world) {
    ProcessGroup group = world.new_group({2, 1});
    if (!group.is_member()) return;
    EXPECT_EQ(group.global_rank(0), 2);
    EXPECT_EQ(group.group_rank(1), 1);
    if (world.rank() == 2) group.send(7, 1);
    if (world.rank() == 1) {
      EXPECT_EQ(group.recv<int>(0), 7);
    }
  });
}

// "Global rank r is not part of group g."
TEST(TorchGroups, AGlobalRankThatIsNoMemberIsAnError) {
  run_world(3, [](ProcessGroup& world) {
    const ProcessGroup group = world.new_group({0, 1}, {.name = "pair"});
    EXPECT_THAT(error_text<UsageError>([&] { (void)group.group_rank(2); }),
                HasSubstr("rank 2 of the world is not in group \"pair\" {0, 1}"));
  });
}

// "Running op on global rank r which does not belong to the given group" is warned about, and None is
// returned. Parley: an error, before anything else is looked at.
TEST(TorchGroups, ACallOnAGroupOfOthersIsAnError) {
  run_world(2, [](ProcessGroup& world) {
    ProcessGroup other = world.new_group({1 - world.rank()}, {.name = "other"});
    const std::string expected =
        "rank " + std::to_string(world.rank()) + " of the world is not in group \"other\"";
    const int value = 1;
    EXPECT_THAT(error_text<UsageError>([&] { other.send(value, 99); }), HasSubstr(expected));
    EXPECT_THAT(error_text<UsageError>([&] { (void)other.recv<int>(0); }), HasSubstr(expected));
    EXPECT_THAT(error_text<UsageError>([&] { other.barrier(); }), HasSubstr(expected));
  });
}

// "get_rank returns -1 if not a member."
TEST(TorchGroups, TheRankOfNoMemberIsMinusOne) {
  run_world(2, [](ProcessGroup& world) {
    const ProcessGroup other = world.new_group({1 - world.rank()});
    EXPECT_EQ(other.rank(), -1);
    EXPECT_EQ(other.size(), 1);
  });
}

// "get_group_rank and get_global_rank are the identity on WORLD."
TEST(TorchGroups, RanksOfTheWorldAreTheirOwn) {
  run_world(2, [](ProcessGroup& world) {
    EXPECT_EQ(world.group_rank(1), 1);
    EXPECT_EQ(world.global_rank(1), 1);
  });
}

// "Group rank r is not part of group g."
TEST(TorchGroups, AGroupRankOutOfRangeIsAnError) {
  run_world(2, [](ProcessGroup& world) {
    const ProcessGroup group = world.dup();
    EXPECT_THAT(error_text<UsageError>([&] { (void)group.global_rank(2); }),
                AllOf(HasSubstr("rank 2"), HasSubstr("0 to 1")));
  });
}

// "new_group: all ranks of the world must call, in the same order" (unless use_local_synchronization).
// Parley: its members only.
TEST(TorchGroups, OnlyMembersMakeAGroup) {
  run_world(4, [](ProcessGroup& world) {
    if (world.rank() > 1) return;
    EXPECT_EQ(world.new_group({1, 0}).rank(), 1 - world.rank());
  });
}

// "sort_ranks=True": ranks are sorted unless one asks. Parley: the caller's order.
TEST(TorchGroups, TheOrderIsTheCallers) {
  run_world(3, [](ProcessGroup& world) {
    EXPECT_EQ(world.new_group({2, 0, 1}).rank(), (world.rank() + 1) % 3);
  });
}

// "ranks list must not contain duplicate entries, got [...]."
TEST(TorchGroups, AListHasNoRankTwice) {
  run_world(3, [](ProcessGroup& world) {
    EXPECT_THAT(error_text<UsageError>([&] {
                  (void)world.new_group({0, 2, 0});
                }),
                HasSubstr("{0, 2, 0} has rank 0 more than once"));
  });
}

// "Rank r is out of range. Valid ranks are 0 to W-1."
TEST(TorchGroups, AListHasRanksOfTheGroupOnly) {
  run_world(2, [](ProcessGroup& world) {
    EXPECT_THAT(error_text<UsageError>([&] {
                  (void)world.new_group({0, 2});
                }),
                HasSubstr("rank 2 is out of range: valid ranks are 0 to 1"));
    EXPECT_THAT(error_text<UsageError>([&] { (void)world.new_group({-1}); }),
                HasSubstr("valid ranks are 0 to 1"));
  });
}

// "The new group's world size should be less or equal to the world size": more ranks than there are have one
// twice or one out of range.
TEST(TorchGroups, AListIsNotLongerThanTheWorld) {
  run_world(2, [](ProcessGroup& world) {
    EXPECT_THROW((void)world.new_group({0, 1, 1}), UsageError);
    EXPECT_THROW((void)world.new_group({0, 1, 2}), UsageError);
  });
}

// "destroy_process_group(group) does nothing for those who are no members." Parley: a group ends with the
// last of its handles, in each process by itself, and whoever has none does nothing.
TEST(TorchGroups, AGroupEndsWithItsHandles) {
  run_world(3, [](ProcessGroup& world) {
    ProcessGroup kept;
    {
      const ProcessGroup group = world.new_group({2, 0});
      if (world.rank() == 0) kept = group;
    }
    world.barrier();
    if (world.rank() == 0) {
      EXPECT_THAT(error_text<PeerLeftError>([&] { kept.send(1, 0); }), HasSubstr("has left the group"));
    }
    world.barrier();
  });
}

// ---- send, recv, isend, irecv

// "Default process group has not been initialized, please make sure to call init_process_group." Parley: the
// same of an empty handle.
TEST(TorchPointToPoint, AnEmptyGroupIsAnError) {
  ProcessGroup none;
  int value = 0;
  const std::string expected = "this ProcessGroup is empty: get one from parley::init()";
  EXPECT_THAT(error_text<UsageError>([&] { none.send(value, 0); }), HasSubstr(expected));
  EXPECT_THAT(error_text<UsageError>([&] { (void)none.recv<int>(0); }), HasSubstr(expected));
  EXPECT_THAT(error_text<UsageError>([&] { (void)none.isend(value, 0); }), HasSubstr(expected));
  EXPECT_THAT(error_text<UsageError>([&] { (void)none.irecv(value, 0); }), HasSubstr(expected));
}

// "send: destination rank should not be the same as the rank of the current process." Parley: a copy.
TEST(TorchPointToPoint, ARankMaySendToItself) {
  run_world(1, [](ProcessGroup& world) {
    const int out = 5;
    int in = 0;
    Work sent = world.isend(out, 0);
    Work received = world.irecv(in, 0);
    sent.wait();
    EXPECT_EQ(received.wait().source, 0);
    EXPECT_EQ(in, 5);
    world.send(6, 0);
    EXPECT_EQ(world.recv<int>(any_source), 6);
  });
}

// "recv returns the sender's rank"; "src=None receives from any source."
TEST(TorchPointToPoint, AReceiveTellsItsSource) {
  run_world(3, [](ProcessGroup& world) {
    if (world.rank() != 0) return world.send(world.rank(), 0, {.tag = world.rank()});
    for (const int tag : {2, 1}) {
      int value = 0;
      const RecvStatus status = world.recv(std::span(&value, 1), any_source, {.tag = tag});
      EXPECT_EQ(status.source, tag);
      EXPECT_EQ(value, tag);
    }
  });
}

// "Tag must be nonnegative."
TEST(TorchPointToPoint, ATagIsZeroOrMore) {
  run_world(2, [](ProcessGroup& world) {
    const int value = 1;
    const std::string expected = "tag must be 0 or more";
    EXPECT_THAT(error_text<UsageError>([&] { world.send(value, 0, {.tag = -1}); }), HasSubstr(expected));
    EXPECT_THAT(error_text<UsageError>([&] { (void)world.isend(value, 0, {.tag = -5}); }),
                HasSubstr(expected));
    EXPECT_THAT(error_text<UsageError>([&] { (void)world.recv<int>(0, {.tag = -2}); }), HasSubstr(expected));
  });
}

// "recv: a buffer larger than the message is filled in part, silently." Parley: success, and the size is
// told.
TEST(TorchPointToPoint, AShorterMessageTellsItsSize) {
  run_pair([](ProcessGroup& world) { world.send(two_numbers, 1); },
           [](ProcessGroup& world) {
             std::vector<int> in{0, 0, 9};
             EXPECT_EQ(world.recv(in, 0).bytes, 2 * sizeof(int));
             EXPECT_EQ(in, (std::vector<int>{1, 2, 9}));
           });
}

// "recv: a smaller buffer is an exception, and the whole context is unusable." Parley: of that receive alone.
TEST(TorchPointToPoint, ALongerMessageFailsOneReceive) {
  run_pair(
      [](ProcessGroup& world) {
        world.send(two_numbers, 1);
        world.send(3, 1);
      },
      [](ProcessGroup& world) {
        EXPECT_THAT(error_text<TruncationError>([&] { (void)world.recv<int>(0); }),
                    AllOf(HasSubstr("8 B"), HasSubstr("4 B")));
        EXPECT_EQ(world.recv<int>(0), 3);
      });
}

// "A dtype that differs is silent garbage." Parley: an error that names both.
TEST(TorchPointToPoint, AnotherTypeIsAnError) {
  run_pair([](ProcessGroup& world) { world.send(1.5F, 1); },
           [](ProcessGroup& world) {
             EXPECT_THAT(error_text<MismatchError>([&] { (void)world.recv<int>(0); }),
                         AllOf(HasSubstr("f32"), HasSubstr("i32")));
           });
}

// "A tag that differs has both sides wait until the timeout, whose text tells nothing." Parley: what is
// there.
TEST(TorchPointToPoint, ATimeoutListsWhatIsThere) {
  run_pair(
      [](ProcessGroup& world) {
        world.send(1, 1, {.tag = 7});
        world.barrier();
      },
      [](ProcessGroup& world) {
        EXPECT_THAT(error_text<TimeoutError>([&] { (void)world.recv<int>(0, {.tag = 8, .timeout = 50ms}); }),
                    AllOf(HasSubstr("1 unmatched message"), HasSubstr("tag 7, 4 B, i32")));
        world.barrier();
      });
}

// "isend and irecv return None for no member." Parley: an error, as above; for members a Work.
TEST(TorchPointToPoint, NonBlockingCallsReturnWork) {
  run_pair([](ProcessGroup& world) { world.isend(Tensor::full({2}, 4.0), 1).wait(); },
           [](ProcessGroup& world) {
             const Tensor in = Tensor::zeros({2});
             Work work = world.irecv(in, 0);
             EXPECT_EQ(work.wait().bytes, 2 * sizeof(float));
           });
}

// ---- Work

// "is_completed() does not block"; "is_success() = completed without exception."
TEST(TorchWork, TestDoesNotBlockAndDoesNotThrow) {
  run_pair(
      [](ProcessGroup& world) {
        world.barrier();
        world.send(two_numbers, 1);
      },
      [](ProcessGroup& world) {
        int in = 0;
        Work work = world.irecv(in, 0);
        EXPECT_FALSE(work.test());
        world.barrier();
        while (!work.test()) std::this_thread::yield();
        EXPECT_THROW(work.wait(), TruncationError);
      });
}

// "wait(timeout) throws 'Operation timed out!', and the operation is still pending."
TEST(TorchWork, AWaitThatTimesOutLeavesTheOperationPending) {
  run_pair(
      [](ProcessGroup& world) {
        world.barrier();
        world.send(3, 1);
      },
      [](ProcessGroup& world) {
        int in = 0;
        Work work = world.irecv(in, 0);
        EXPECT_THAT(error_text<TimeoutError>([&] { work.wait(10ms); }), HasSubstr("still pending"));
        world.barrier();
        work.wait();
        EXPECT_EQ(in, 3);
      });
}

// "wait() rethrows the stored exception", each time.
TEST(TorchWork, AnErrorIsKept) {
  run_world(1, [](ProcessGroup& world) {
    int in = 0;
    Work work = world.irecv(in, 0, {.timeout = 5ms});
    EXPECT_THROW(work.wait(), TimeoutError);
    EXPECT_THROW(work.wait(), TimeoutError);
  });
}

// "source_rank() may only be called on work objects that correspond to a recv." Parley: a send's is the
// other rank, too.
TEST(TorchWork, TheSourceIsThatOfTheReceive) {
  run_pair(
      [](ProcessGroup& world) {
        const int value = 1;
        const std::vector<int> large(100'000, 1);
        Work small_work = world.isend(value, 1), large_work = world.isend(large, 1);
        small_work.wait();
        large_work.wait();
        EXPECT_EQ(small_work.source(), 1);
        EXPECT_EQ(large_work.source(), 1);
      },
      [](ProcessGroup& world) {
        int in = 0;
        Work work = world.irecv(in, any_source);
        work.wait();
        EXPECT_EQ(work.source(), 0);
        std::vector<int> large(100'000);
        world.recv(large, 0);
      });
}

}  // namespace
}  // namespace parley
