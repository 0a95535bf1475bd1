// A group's first call on devices, in which its ranks agree how they work together, and calls that come
// meanwhile.
#include <gmock/gmock.h>
#include <parley/batch.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/nccl/simulated_world.h"

namespace parley::nccl::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class NcclFirstCall : public SimulatedWorld {
 protected:
  // Rank 0's first call waits for rank 1 then.
  static void wait_for_meeting(const ProcessGroup& rank_0) {
    while (rank_0.describe().find("the ranks are agreeing") == std::string::npos)
      std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(20ms);  // by now its thread waits, and runs completion functions
  }
  // Rank 0 is in its first call while `meanwhile` runs on rank 1's thread, which comes to it afterwards.
  template <typename Before, typename Meanwhile>
  void run(const Before& before, const Meanwhile& meanwhile) {
    std::promise<ProcessGroup*> rank_0;
    parley::testing::run_world(2, [&](ProcessGroup& world) {
      const Tensor tensor = ones(world, 3);
      if (world.rank() == 0) {
        before(world);
        rank_0.set_value(&world);
      } else {
        ProcessGroup& other = *rank_0.get_future().get();
        wait_for_meeting(other);
        meanwhile(other, world);
      }
      world.all_reduce(tensor);
      EXPECT_EQ(last_of<float>(tensor), 2.0F);
    });
  }
  // Rank 0 to itself.
  std::vector<Work> batch(ProcessGroup& world, std::chrono::nanoseconds timeout) {
    const Tensor out = ones(world, 2), in = ones(world, 2);
    return world.batch_isend_irecv({P2POp{.op = P2POp::isend, .tensor = out, .peer = 0, .timeout = timeout},
                                    P2POp{.op = P2POp::irecv, .tensor = in, .peer = 0, .timeout = timeout}});
  }
};

TEST_F(NcclFirstCall, RefusesACompletionFunctionOnItsThread) {
  int value = 0;
  Work received;
  std::promise<void> has_run;
  run(
      [&](ProcessGroup& world) {
        received = world.irecv(value, 1);
        received.then([&, thread = std::this_thread::get_id()](const std::exception_ptr&) {
          try {
            (void)batch(world, 100ms);
            ADD_FAILURE() << "no error";
          } catch (const UsageError& error) {
            EXPECT_EQ(std::this_thread::get_id(), thread);
            EXPECT_THAT(error.what(), AllOf(HasSubstr("batch_isend_irecv"), HasSubstr("completion function"),
                                            HasSubstr("first call on devices of the world")));
            EXPECT_EQ(error.details().operation, "batch_isend_irecv");
          } catch (const TimeoutError&) {
            EXPECT_NE(std::this_thread::get_id(), thread);  // the thread that makes progress for others
          }
          has_run.set_value();
        });
      },
      [&](ProcessGroup&, ProcessGroup& world) {
        world.send(7, 0);
        has_run.get_future().wait();
      });
  received.wait();
}

TEST_F(NcclFirstCall, KeepsAnotherThreadNoLongerThanItsTimeout) {
  run([](ProcessGroup&) {},
      [&](ProcessGroup& rank_0, ProcessGroup&) {
        try {
          (void)rank_0.all_reduce(ones(rank_0, 1), {.timeout = 50ms});
          ADD_FAILURE() << "no error";
        } catch (const TimeoutError& error) {
          EXPECT_THAT(error.what(),
                      AllOf(HasSubstr("rank 0: all_reduce in the world timed out after"),
                            HasSubstr("another thread is in the group's first call on devices")));
          EXPECT_EQ(error.details().operation, "all_reduce");
          EXPECT_GE(error.details().elapsed, 50ms);
        }
        EXPECT_THROW((void)batch(rank_0, 50ms), TimeoutError);
      });
}

TEST_F(NcclFirstCall, LetsAnotherThreadGoOnAfterIt) {
  std::promise<ProcessGroup*> rank_0;
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    std::thread second;
    if (world.rank() == 0) {
      rank_0.set_value(&world);
      second = std::thread([&] {
        wait_for_meeting(world);
        std::vector<Work> works = batch(world, 30s);
        wait_all(works);
      });
    } else {
      wait_for_meeting(*rank_0.get_future().get());
    }
    world.all_reduce(ones(world, 3));
    if (second.joinable()) second.join();
  });
}

// The next call tries it again.
TEST_F(NcclFirstCall, ThatFailsLeavesTheNextOneToTry) {
  nccl_.fail_next(Call::make_unique_id, Result::system_error);
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 3);
    EXPECT_THROW(world.all_reduce(tensor), SystemError);
    EXPECT_EQ(world.describe().find("devices"), std::string::npos);
    world.all_reduce(tensor);
    EXPECT_NE(world.describe().find("devices: NCCL"), std::string::npos);
  });
}

}  // namespace
}  // namespace parley::nccl::testing
