// The simulated device's memory: what is known of addresses, and that the CPU cannot follow one of a device.
#include <gtest/gtest.h>

#include <array>

#include "tests/unit/cuda/device.h"

namespace parley::cuda::testing {
namespace {

PointerFacts facts_of(EnteredDevice& at, const void* address) {
  PointerFacts facts;
  EXPECT_EQ(at.device.facts_of(address, facts), Code::ok);
  return facts;
}

TEST(SimulatedMemory, FaultsWhereTheCpuFollowsADevicesAddress) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        EnteredDevice at;
        volatile std::byte* memory = at.memory(4096);
        memory[17] = std::byte{1};
      },
      "");
}

TEST(SimulatedMemory, IsKnownByItsAddresses) {
  EnteredDevice at({.devices = 2});
  std::byte* memory = at.memory(1000);
  std::byte* pinned = at.pinned(10);
  std::byte* pool = nullptr;
  std::byte* managed = nullptr;
  std::array<char, 8> pageable{};
  EXPECT_EQ(at.device.allocate_pool_memory(10, pool), Code::ok);
  EXPECT_EQ(at.device.allocate_managed(10, managed), Code::ok);

  const PointerFacts facts = facts_of(at, memory + 999);
  EXPECT_EQ(facts.type, MemoryType::device);
  EXPECT_EQ(facts.device, 0);
  EXPECT_EQ(facts.base, memory);
  EXPECT_EQ(facts.bytes, 1000u);
  EXPECT_TRUE(facts.can_be_exported);
  EXPECT_EQ(facts_of(at, pinned + 9).type, MemoryType::pinned);
  EXPECT_EQ(facts_of(at, managed).type, MemoryType::managed);
  EXPECT_EQ(facts_of(at, managed).device, 0);
  EXPECT_EQ(facts_of(at, pageable.data()).type, MemoryType::pageable);
  EXPECT_EQ(facts_of(at, pool).type, MemoryType::device);
  EXPECT_FALSE(facts_of(at, pool).can_be_exported);
  MemoryHandle handle;
  EXPECT_EQ(at.device.export_memory(pool, handle), Code::invalid_value);
  EXPECT_EQ(at.device.export_memory(memory + 1, handle), Code::invalid_value) << "no base";

  const DeviceScope other(at.device, 1);
  EXPECT_EQ(at.device.free(memory), Code::invalid_context);
  EXPECT_EQ(at.device.live_allocations(), 4u);
}

TEST(SimulatedMemory, HasAnotherNumberAtTheSameAddress) {
  EnteredDevice at;
  std::byte* first = at.memory(5000);
  const std::uint64_t id = facts_of(at, first).buffer_id;
  EXPECT_EQ(at.device.free(first), Code::ok);
  EXPECT_EQ(facts_of(at, first).type, MemoryType::pageable);
  std::byte* second = at.memory(5000);
  EXPECT_EQ(second, first);
  EXPECT_NE(facts_of(at, second).buffer_id, id);
}

TEST(SimulatedMemory, HasAnEnd) {
  EnteredDevice at({.bytes_per_device = 8192});
  std::byte* all = at.memory(8000);
  std::byte* more = nullptr;
  EXPECT_EQ(at.device.allocate(1, more), Code::out_of_memory);
  EXPECT_EQ(at.device.free(all), Code::ok);
  EXPECT_EQ(at.device.allocate(8192, more), Code::ok);
  EXPECT_EQ(at.device.free(more), Code::ok);
  EXPECT_EQ(at.device.free(more), Code::invalid_value);
  EXPECT_EQ(at.device.live_allocations(), 0u);
}

TEST(SimulatedMemory, NeedsADevice) {
  SimulatedDevice device({.devices = 2, .first_physical = 3});
  std::byte* memory = nullptr;
  EXPECT_EQ(device.current_device(), -1);
  EXPECT_EQ(device.allocate(1, memory), Code::invalid_context);
  {
    const DeviceScope first(device, 0);
    const DeviceScope second(device, 1);
    EXPECT_EQ(device.current_device(), 1);
  }
  EXPECT_EQ(device.current_device(), -1);
  EXPECT_EQ(DeviceScope(device, 2).code(), Code::invalid_value);
  EXPECT_EQ(device.device_name(1), "simulated device 4");
  DeviceId first{};
  DeviceId second{};
  EXPECT_EQ(device.device_id(0, first), Code::ok);
  EXPECT_EQ(device.device_id(1, second), Code::ok);
  EXPECT_NE(first, second);
  EXPECT_EQ(device.describe(Code::out_of_memory), "out of memory (CUDA error 2)");
  EXPECT_EQ(device.describe(Code{12345}), "CUDA error 12345");
}

}  // namespace
}  // namespace parley::cuda::testing
