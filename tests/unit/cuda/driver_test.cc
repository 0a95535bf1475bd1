// What opening CUDA's driver says where it cannot be used. What it does where it can needs a device.
#include "transport/cuda/driver.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace parley::cuda {
namespace {

std::string reason_against(const char* library, const char* version, const char* init = "0") {
  setenv("PRETENDED_VERSION", version, 1);
  setenv("PRETENDED_cuInit", init, 1);
  unsetenv("PRETENDED_DEVICES");
  const OpenedDriver opened = open_driver(library);
  EXPECT_EQ(opened.api, nullptr);
  return opened.reason;
}

OpenedDriver driver_with_two_devices() {
  setenv("PRETENDED_VERSION", "13000", 1);
  setenv("PRETENDED_cuInit", "0", 1);
  setenv("PRETENDED_DEVICES", "2", 1);
  return open_driver(COMPLETE_DRIVER);
}

TEST(Driver, IsNotFound) {
  EXPECT_EQ(open_driver("/nowhere/libcuda.so.1").reason,
            "/nowhere/libcuda.so.1 was not found: no NVIDIA driver is installed here");
}

TEST(Driver, IsNoLibrary) {
  EXPECT_EQ(open_driver("/dev/null").reason.find("/dev/null cannot be opened: "), 0u);
}

TEST(Driver, IsTooOldEvenIfFunctionsAreMissing) {
  for (const char* library : {COMPLETE_DRIVER, INCOMPLETE_DRIVER})
    EXPECT_EQ(reason_against(library, "11080"),
              "the CUDA driver is too old: it is of version 11.8, and Parley needs 12.0");
}

TEST(Driver, LacksAFunction) {
  EXPECT_EQ(reason_against(INCOMPLETE_DRIVER, "13000"),
            INCOMPLETE_DRIVER " has no function cuInit: it is no CUDA driver that Parley knows");
}

TEST(Driver, HasNoDevice) {
  const std::string words = "the CUDA driver finds no device that this process may use";
  EXPECT_EQ(reason_against(COMPLETE_DRIVER, "13000", "100"), words);
  EXPECT_EQ(reason_against(COMPLETE_DRIVER, "13000", "0"), words) << "a count of 0";
}

TEST(Driver, CannotBeInitialised) {
  EXPECT_EQ(reason_against(COMPLETE_DRIVER, "13000", "803"),
            "CUDA cannot be initialised: unknown (CUDA error 803)");
}

TEST(Driver, KnowsWhereAddressesLie) {
  const OpenedDriver opened = driver_with_two_devices();
  ASSERT_NE(opened.api, nullptr) << opened.reason;
  const auto facts_of = [&](std::uintptr_t address) {
    PointerFacts facts;
    EXPECT_EQ(opened.api->facts_of(reinterpret_cast<void*>(address), facts), Code::ok);
    return facts;
  };
  EXPECT_EQ(facts_of(1).type, MemoryType::pageable);
  EXPECT_EQ(facts_of(100).type, MemoryType::pinned);
  EXPECT_EQ(facts_of(100).device, -1);
  const PointerFacts on_device = facts_of(201);
  EXPECT_EQ(on_device.type, MemoryType::device);
  EXPECT_EQ(on_device.device, 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(on_device.base), 200U);
  EXPECT_EQ(on_device.bytes, 64U);
  EXPECT_EQ(on_device.buffer_id, 17U);
  EXPECT_TRUE(on_device.can_be_exported);
  EXPECT_EQ(facts_of(300).type, MemoryType::managed);
  EXPECT_EQ(facts_of(300).device, 1);
  EXPECT_FALSE(facts_of(300).can_be_exported);
}

// cudaStreamCaptureModeGlobal of another thread.
TEST(Driver, TakesNoEventForReachedThatMayNotBeAskedAbout) {
  const OpenedDriver opened = driver_with_two_devices();
  ASSERT_NE(opened.api, nullptr) << opened.reason;
  EXPECT_EQ(opened.api->query(nullptr), Code::ok);
  setenv("PRETENDED_cuEventQuery", "900", 1);
  EXPECT_EQ(opened.api->query(nullptr), Code::not_ready);
  setenv("PRETENDED_cuEventQuery", "700", 1);
  EXPECT_EQ(opened.api->query(nullptr), Code::illegal_address);
  unsetenv("PRETENDED_cuEventQuery");
}

TEST(Driver, ReachesADeviceThatIsReachedAlready) {
  const OpenedDriver opened = driver_with_two_devices();
  ASSERT_NE(opened.api, nullptr) << opened.reason;
  EXPECT_EQ(opened.api->reach_device(1), Code::ok);
  setenv("PRETENDED_cuCtxEnablePeerAccess", "704", 1);
  EXPECT_EQ(opened.api->reach_device(1), Code::ok);
  setenv("PRETENDED_cuCtxEnablePeerAccess", "217", 1);
  EXPECT_EQ(static_cast<int>(opened.api->reach_device(1)), 217) << "no way leads there";
  unsetenv("PRETENDED_cuCtxEnablePeerAccess");
  EXPECT_EQ(opened.api->reach_device(2), Code::invalid_value);
}

// It does within a device what a capture of another thread in the mode "global" forbids.
TEST(Driver, IsInTheWayOfNoCaptureOnAnotherThread) {
  const OpenedDriver opened = driver_with_two_devices();
  ASSERT_NE(opened.api, nullptr) << opened.reason;
  setenv("PRETENDED_CAPTURE", "1", 1);
  EXPECT_EQ(opened.api->query(nullptr), Code::not_ready);
  {
    const DeviceScope scope(*opened.api, 0);
    EXPECT_EQ(opened.api->query(nullptr), Code::ok);
    {
      const DeviceScope inner(*opened.api, 1);
      EXPECT_EQ(opened.api->query(nullptr), Code::ok);
    }
    EXPECT_EQ(opened.api->query(nullptr), Code::ok);
  }
  EXPECT_EQ(opened.api->query(nullptr), Code::not_ready) << "the thread's own mode has come back";
  unsetenv("PRETENDED_CAPTURE");
}

}  // namespace
}  // namespace parley::cuda
