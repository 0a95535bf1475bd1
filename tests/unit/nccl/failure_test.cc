// How NCCL's communicators end badly, in each of their states: with a named reason, at all ranks, and with
// nothing left on the device.
#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/nccl/simulated_world.h"

namespace parley::nccl::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

template <typename Error, typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another type: ") + error.what();
  }
  return "no error";
}

class NcclFailure : public SimulatedWorld {
 protected:
  // Of two: without a collective, which what follows would end.
  static void wait_for_the_other(ProcessGroup& world) {
    const std::vector<int> out(1);
    std::vector<int> in(1);
    world.sendrecv(out, 1 - world.rank(), in, 1 - world.rank());
  }
  // After the failure: the device is free, host groups go on, devices' collectives do not.
  void expect_the_rest_goes_on(ProcessGroup& world, const Tensor& tensor) {
    {
      const cuda::DeviceScope scope(device_, world.rank());
      EXPECT_EQ(device_.synchronize(cuda::default_stream), cuda::Code::ok);
    }
    EXPECT_NE(error_of<Error>([&] { world.all_reduce(tensor); }), "no error");
    std::vector<int> values(3, 1);
    ProcessGroup others = world.dup();
    others.all_reduce(values);
    EXPECT_EQ(values[0], world.size());
    const int next = (world.rank() + 1) % world.size();
    const int previous = (world.rank() + world.size() - 1) % world.size();
    world.sendrecv(values, next, values, previous);
  }
};

TEST_F(NcclFailure, ARankThatDoesNotComeToTheFirstCallIsNamed) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    if (world.rank() != 2) {
      const std::string error = error_of<TimeoutError>([&] { world.all_reduce(tensor, {.timeout = 200ms}); });
      EXPECT_THAT(error, HasSubstr("rank 2"));
    } else {
      EXPECT_THAT(error_of<Error>([&] { (void)world.recv<int>(0); }), HasSubstr("rank 0"));
    }
  });
  EXPECT_EQ(nccl_.count(Call::join), 0U);
}

TEST_F(NcclFailure, AJoinThatDoesNotEnd) {
  fabric_->holds_joins = true;
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    const std::string error = error_of<TimeoutError>([&] { world.all_reduce(tensor, {.timeout = 200ms}); });
    EXPECT_THAT(error, HasSubstr("it waited for NCCL, which is still joining its ranks"));
    expect_the_rest_goes_on(world, tensor);
  });
  EXPECT_EQ(nccl_.count(Call::abort), 2U);
  EXPECT_EQ(nccl_.count(Call::destroy), 0U);
}

TEST_F(NcclFailure, AJoinThatFailsAtOnce) {
  nccl_.fail_next(Call::join, Result::system_error);
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    EXPECT_THAT(error_of<AbortedError>([&] { world.all_reduce(tensor); }),
                HasSubstr("NCCL: simulated (NCCL error 2)"));
    expect_the_rest_goes_on(world, tensor);
  });
}

TEST_F(NcclFailure, AnIdThatCannotBeMade) {
  nccl_.fail_next(Call::make_unique_id, Result::system_error);
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    EXPECT_THAT(error_of<SystemError>([&] { world.all_reduce(ones(world, 1)); }),
                HasSubstr("all_reduce: NCCL failed on rank 0 of the world: simulated (NCCL error 2)"));
    Tensor tensor = ones(world, 1);
    world.all_reduce(tensor);  // tried again
    EXPECT_EQ(last_of<float>(tensor), 3.0F);
  });
}

TEST_F(NcclFailure, AnErrorOfACall) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    world.all_reduce(tensor);
    wait_for_the_other(world);
    if (world.rank() == 1) nccl_.fail_next(Call::end_group, Result::internal_error);
    EXPECT_THAT(error_of<AbortedError>([&] {
                  for (;;) world.all_reduce(tensor);
                }),
                HasSubstr("NCCL: simulated (NCCL error 3)"));
    expect_the_rest_goes_on(world, tensor);
  });
  EXPECT_EQ(nccl_.count(Call::abort), 2U);
}

// The call has returned, the device is still at it.
TEST_F(NcclFailure, AnAsynchronousErrorInFlight) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    world.all_reduce(tensor);
    if (world.rank() == 0) device_.hold(cuda::default_stream, 0);
    world.barrier();
    world.all_reduce(tensor);
    world.barrier();
    if (world.rank() == 0) nccl_.fail_asynchronously(Result::remote_error);
    const std::string error = error_of<AbortedError>([&] {
      for (;;) world.barrier();
    });
    EXPECT_THAT(error, HasSubstr("NCCL: simulated (NCCL error 6)"));
    if (world.rank() == 0) device_.let_go(cuda::default_stream, 0);
    expect_the_rest_goes_on(world, tensor);
  });
}

TEST_F(NcclFailure, WorkThatTheDeviceDoesNotEndInTime) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    world.all_reduce(tensor);
    if (world.rank() == 0) device_.hold(cuda::default_stream, 0);
    world.barrier();
    world.all_reduce(tensor, {.timeout = 300ms});
    const std::string error = error_of<Error>([&] {
      for (;;) world.barrier();
    });
    EXPECT_THAT(error, HasSubstr("NCCL's work on the device, for which all ranks had come"));
    if (world.rank() == 0) device_.let_go(cuda::default_stream, 0);
    expect_the_rest_goes_on(world, tensor);
  });
}

TEST_F(NcclFailure, RanksThatCallDifferentThings) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 8);
    world.all_reduce(tensor);
    const std::string error = error_of<MismatchError>(
        [&] { world.rank() == 0 ? world.all_reduce(tensor) : world.broadcast(tensor, 0); });
    EXPECT_THAT(error,
                AllOf(HasSubstr("all_reduce(sum) of "), HasSubstr("broadcast of "), HasSubstr("on devices")));
    expect_the_rest_goes_on(world, tensor);
  });
  EXPECT_EQ(nccl_.count(Call::abort), 2U);
}

TEST_F(NcclFailure, ARankThatDoesNotComeIsNamedAndTheDeviceIsFree) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 8);
    world.all_reduce(tensor);
    if (world.rank() == 1) {
      EXPECT_EQ(world.recv<int>(0), 7);
    } else {
      EXPECT_THAT(error_of<Error>([&] { world.all_reduce(tensor, {.timeout = 300ms}); }),
                  HasSubstr("it waited for rank 1"));
    }
    if (world.rank() == 0) world.send(7, 1);
    expect_the_rest_goes_on(world, tensor);
  });
  EXPECT_EQ(nccl_.count(Call::abort), 3U);
}

// abort() in each state of a communicator.
TEST_F(NcclFailure, AnAbortWhileItJoins) {
  fabric_->holds_joins = true;
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    EXPECT_THAT(error_of<AbortedError>([&] {
                  Work work = world.all_reduce(tensor, {.async_op = true});
                  wait_for_the_other(world);
                  if (world.rank() == 0) world.abort("enough");
                  work.wait();
                }),
                HasSubstr("enough"));
  });
  EXPECT_EQ(nccl_.count(Call::abort), 2U);
}

TEST_F(NcclFailure, AnAbortWhileItLaunches) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    world.all_reduce(tensor);
    wait_for_the_other(world);
    if (world.rank() == 0) nccl_.launch_in_background(1 << 30, 2);
    wait_for_the_other(world);
    EXPECT_THAT(error_of<AbortedError>([&] {
                  Work work = world.all_reduce(tensor, {.async_op = true});
                  if (world.rank() == 0) world.abort("enough");
                  work.wait();
                }),
                HasSubstr("enough"));
  });
  EXPECT_EQ(nccl_.count(Call::abort), 2U);
}

TEST_F(NcclFailure, AnAbortWhileTheDeviceWorks) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    world.all_reduce(tensor);
    if (world.rank() == 0) device_.hold(cuda::default_stream, 0);
    world.barrier();
    world.all_reduce(tensor);
    wait_for_the_other(world);
    if (world.rank() == 0) world.abort("enough");
    if (world.rank() == 0) device_.let_go(cuda::default_stream, 0);
    const cuda::DeviceScope scope(device_, world.rank());
    EXPECT_EQ(device_.synchronize(cuda::default_stream), cuda::Code::ok);
    EXPECT_THAT(error_of<AbortedError>([&] { world.all_reduce(tensor); }), HasSubstr("enough"));
  });
  EXPECT_EQ(nccl_.count(Call::abort), 2U);
}

TEST_F(NcclFailure, AnAbortWhileNothingIsOnItsWay) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    world.all_reduce(tensor);
    const cuda::DeviceScope scope(device_, world.rank());
    EXPECT_EQ(device_.synchronize(cuda::default_stream), cuda::Code::ok);
    wait_for_the_other(world);
    if (world.rank() == 0) world.abort("enough");
    EXPECT_THAT(error_of<AbortedError>([&] {
                  for (;;) world.all_reduce(tensor);
                }),
                HasSubstr("enough"));
  });
  EXPECT_EQ(nccl_.count(Call::abort), 2U);
}

}  // namespace
}  // namespace parley::nccl::testing
