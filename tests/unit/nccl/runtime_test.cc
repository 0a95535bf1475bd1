// The process's NCCL: why there is none, and that a forked child has none.
#include "api/nccl/runtime.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "tests/simulated_device/simulated_device.h"
#include "tests/unit/shm/child.h"
#include "transport/cuda/runtime.h"

namespace parley::nccl {
namespace {

using cuda::testing::SimulatedDevice;
using transport::shm::testing::expect;
using transport::shm::testing::in_child;

// Stands for a library that nobody calls.
Library* never_called() {
  alignas(std::max_align_t) static std::byte place[sizeof(Library)];
  return reinterpret_cast<Library*>(&place);
}

// Each test is in a process of its own, for the runtime is opened once.
TEST(Runtime, NeedsCuda) {
  EXPECT_EQ(in_child([] {
              cuda::replace_runtime(nullptr, "the test says so");
              expect(runtime() == nullptr, "there");
              return reason_against();
            }),
            "NCCL needs CUDA: the test says so");
}

TEST(Runtime, IsThereOrSaysWhyNot) {
  const std::string told = in_child([] {
    SimulatedDevice device;
    cuda::replace_runtime(&device, "");
    const bool is_there = runtime() != nullptr;
    return is_there != reason_against().empty() ? std::string("there, and a reason against")
                                                : reason_against();
  });
  EXPECT_NE(told, "there, and a reason against");
#if !PARLEY_TEST_HAS_NCCL
  EXPECT_EQ(told, "this build of Parley has no NCCL: it was made without CUDA's toolkit or NCCL's nccl.h");
#endif
}

TEST(Runtime, CanBeReplaced) {
  EXPECT_EQ(in_child([] {
              replace_runtime(never_called(), "");
              expect(runtime() == never_called() && reason_against().empty(), "not there");
              replace_runtime(nullptr, "the test says so");
              expect(runtime() == nullptr, "still there");
              return reason_against();
            }),
            "the test says so");
}

TEST(Runtime, DoesNotGoOverAFork) {
  const auto life_of_child = [] {
    expect(runtime() == nullptr, "there");
    const std::string reason = reason_against();
    replace_runtime(never_called(), "");
    expect(runtime() == never_called() && reason_against().empty(), "not even its own");
    return reason;
  };
  EXPECT_EQ(in_child([&] {
              replace_runtime(never_called(), "");
              return in_child(life_of_child);
            }),
            "this process was forked after NCCL was opened, and NCCL cannot be used in the child: start it "
            "by exec");
}

TEST(VersionText, IsThatOfThreeNumbers) {
  EXPECT_EQ(version_text(22809), "2.28.9");
  EXPECT_EQ(version_text(21801), "2.18.1");
  EXPECT_EQ(version_text(2804), "2.8.4");
  EXPECT_EQ(version_text(30012), "3.0.12");
}

}  // namespace
}  // namespace parley::nccl
