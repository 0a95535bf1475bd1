// The process's CUDA: why there is none, and that a forked child has none.
#include "transport/cuda/runtime.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/simulated_device/simulated_device.h"
#include "tests/unit/shm/child.h"

namespace parley::cuda {
namespace {

using testing::SimulatedDevice;
using transport::shm::testing::expect;
using transport::shm::testing::in_child;

// In a process of its own, for the runtime is opened once; so in all tests here.
std::string reason_with(const char* variable) {
  return in_child([&] {
    setenv("PARLEY_CUDA", variable, 1);
    if (is_in_use()) return std::string("in use before anybody asked");
    const bool is_there = runtime() != nullptr;
    return is_there != reason_against().empty() ? std::string("there, and a reason against")
                                                : reason_against();
  });
}

TEST(Runtime, IsLeftOutByTheEnvironment) {
  EXPECT_EQ(reason_with("off"), "PARLEY_CUDA=off is set");
  EXPECT_EQ(reason_with("perhaps"), "PARLEY_CUDA=perhaps is neither on nor off");
}

TEST(Runtime, IsThereOrSaysWhyNot) {
  EXPECT_NE(reason_with("on"), "there, and a reason against");
#if !PARLEY_TEST_HAS_CUDA
  EXPECT_EQ(reason_with("on"),
            "this build of Parley has no CUDA: it was made with PARLEY_CUDA=OFF or without CUDA's toolkit");
#endif
}

TEST(Runtime, CanBeReplaced) {
  EXPECT_EQ(in_child([] {
              SimulatedDevice device;
              replace_runtime(&device, "");
              expect(runtime() == &device && reason_against().empty() && is_in_use(), "not there");
              replace_runtime(nullptr, "the test says so");
              expect(runtime() == nullptr && !is_in_use(), "still there");
              return reason_against();
            }),
            "the test says so");
}

TEST(Runtime, DoesNotGoOverAFork) {
  const auto life_of_child = [] {
    expect(runtime() == nullptr && !is_in_use(), "there");
    const std::string reason = reason_against();
    SimulatedDevice own;
    replace_runtime(&own, "");
    expect(runtime() == &own && reason_against().empty(), "not even its own");
    return reason;
  };
  EXPECT_EQ(
      in_child([&] {
        SimulatedDevice device;
        replace_runtime(&device, "");
        return in_child(life_of_child);
      }),
      "this process was forked after CUDA was initialised, and CUDA cannot be used in the child: start it by "
      "exec");
}

}  // namespace
}  // namespace parley::cuda
