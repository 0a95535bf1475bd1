// The first batch with a peer, which NCCL does not launch before that has come.
#include <gmock/gmock.h>
#include <parley/batch.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/nccl/simulated_world.h"

namespace parley::nccl::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class NcclFirstBatch : public SimulatedWorld {
 protected:
  NcclFirstBatch() { fabric_->connects_at_first_use = true; }

  static P2POp send(const Tensor& tensor, int peer, std::chrono::nanoseconds timeout = 30s) {
    return {.op = P2POp::isend, .tensor = tensor, .peer = peer, .timeout = timeout};
  }
  static P2POp receive(const Tensor& tensor, int peer, std::chrono::nanoseconds timeout = 30s) {
    return {.op = P2POp::irecv, .tensor = tensor, .peer = peer, .timeout = timeout};
  }
  // The group's collectives have ended on all ranks.
  static void wait_for_the_end(ProcessGroup& world) {
    EXPECT_THROW(
        {
          for (;;) world.barrier();
        },
        Error);
  }
};

TEST_F(NcclFirstBatch, WaitsForThePeerAndGoesRound) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const int next = (world.rank() + 1) % 3, previous = (world.rank() + 2) % 3;
    for (int round = 0; round < 3; ++round) {
      const Tensor out = filled(3, 10 * round + world.rank(), device_of(world));
      const Tensor in = filled(3, -1, device_of(world));
      auto works = world.batch_isend_irecv({send(out, next), receive(in, previous)});
      wait_all(works);
      EXPECT_EQ(last_of<int>(in), 10 * round + previous);
    }
  });
}

// Who has come is not blamed; who has come, too, is told whom it was given up for.
TEST_F(NcclFirstBatch, ThePeerThatItReceivesFromAndThatDoesNotComeIsNamed) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const Tensor out = ones(world, 4), in = ones(world, 4);
    world.all_reduce(out);
    if (world.rank() == 0) {
      try {
        (void)world.batch_isend_irecv({send(out, 1, 1s), receive(out, 1, 1s), receive(in, 2, 1s)});
        ADD_FAILURE() << "no error";
      } catch (const TimeoutError& error) {
        EXPECT_THAT(error.what(),
                    AllOf(HasSubstr("recv(16 B, in a batch by NCCL) from rank 2"),
                          HasSubstr("fused batches of the world timed out after"), Not(HasSubstr("rank 1"))));
        EXPECT_EQ(error.details().culprit, 2);
        EXPECT_EQ(error.details().bytes, 16U);
        EXPECT_GE(error.details().elapsed, 1s);
      }
    } else if (world.rank() == 1) {
      try {
        (void)world.batch_isend_irecv({send(out, 0), receive(out, 0), receive(in, 2)});
        ADD_FAILURE() << "no error";
      } catch (const AbortedError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("was given up by rank 0"), HasSubstr("waited for rank 2")));
      }
    }
    wait_for_the_end(world);
  });
  EXPECT_EQ(nccl_.count(Call::abort), 3U);
}

TEST_F(NcclFirstBatch, ThePeersThatItSendsToAndThatDoNotComeAreNamed) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 2);
    world.all_reduce(tensor);
    if (world.rank() == 0) {
      try {
        (void)world.batch_isend_irecv({send(tensor, 2, 300ms), send(tensor, 1, 300ms)});
        ADD_FAILURE() << "no error";
      } catch (const TimeoutError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("send(8 B, in a batch by NCCL) to rank 2"),
                                        HasSubstr("the batch waited for ranks 2, 1")));
        EXPECT_EQ(error.details().culprit, 2);
      }
      // And every later one tells so.
      try {
        (void)world.batch_isend_irecv({send(tensor, 1)});
        ADD_FAILURE() << "no error";
      } catch (const TimeoutError& error) {
        EXPECT_THAT(error.what(), HasSubstr("it waited for ranks 2, 1"));
      }
    }
    wait_for_the_end(world);
  });
}

// All have come, and NCCL takes its time.
TEST_F(NcclFirstBatch, WhereNcclDoesNotLaunchNobodyIsBlamed) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const int other = 1 - world.rank();
    const Tensor out = ones(world, 4), in = ones(world, 4);
    world.all_reduce(out);
    world.barrier();
    if (world.rank() == 0) nccl_.launch_in_background(1 << 30, 2);
    const Tensor value = Tensor::full({1}, 0, DType::i32), theirs = Tensor::full({1}, 0, DType::i32);
    world.sendrecv(value, other, theirs, other);  // no collective, which its end might reach
    const auto timeout = world.rank() == 0 ? std::chrono::nanoseconds(300ms) : std::chrono::nanoseconds(30s);
    try {
      (void)world.batch_isend_irecv({send(out, other, timeout), receive(in, other, timeout)});
      ADD_FAILURE() << "no error";
    } catch (const TimeoutError& error) {
      EXPECT_EQ(world.rank(), 0);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("batch_isend_irecv in the collectives of the world timed out "
                                                "after"),
                                      HasSubstr("it waited for NCCL, which is still connecting its ranks")));
    } catch (const AbortedError& error) {
      EXPECT_EQ(world.rank(), 1);
      EXPECT_THAT(error.what(), HasSubstr("was given up by rank 0"));
    }
  });
}

// What was posted for it is taken back, though its tensors are gone by then.
TEST_F(NcclFirstBatch, LeavesNothingBehindWhenItFails) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    ProcessGroup pair = world.dup();
    world.barrier();
    if (world.rank() == 0) {
      const auto fail = [&] {
        const Tensor in = ones(world, 4), out = ones(world, 4);
        (void)pair.batch_isend_irecv({receive(in, 1, 200ms), send(out, 1, 200ms)});
      };
      pair.all_reduce(ones(world, 1));
      EXPECT_THROW(fail(), TimeoutError);
    } else {
      pair.all_reduce(ones(world, 1));
      wait_for_the_end(pair);
    }
    world.barrier();
    std::vector<int> values(3, 1);
    world.all_reduce(values);
    EXPECT_EQ(values[2], 2);
  });
}

}  // namespace
}  // namespace parley::nccl::testing
