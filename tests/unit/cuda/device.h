#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "tests/simulated_device/simulated_device.h"

namespace parley::cuda::testing {

// Device 0 of a simulated host, entered.
struct EnteredDevice {
  EnteredDevice() = default;
  explicit EnteredDevice(SimulatedDevice::Options options) : device(options) {}

  Stream stream() {
    Stream made = nullptr;
    EXPECT_EQ(device.create_stream(made), Code::ok);
    return made;
  }
  Event event() {
    Event made = nullptr;
    EXPECT_EQ(device.create_event(made), Code::ok);
    return made;
  }
  std::byte* memory(std::size_t bytes) {
    std::byte* made = nullptr;
    EXPECT_EQ(device.allocate(bytes, made), Code::ok);
    return made;
  }
  std::byte* pinned(std::size_t bytes) {
    std::byte* made = nullptr;
    EXPECT_EQ(device.allocate_pinned(bytes, made), Code::ok);
    return made;
  }
  // What stands in device memory now.
  std::string text(const std::byte* memory, std::size_t bytes) const {
    const std::byte* found = device.reach(memory, bytes);
    return found != nullptr ? std::string(reinterpret_cast<const char*>(found), bytes) : "nothing is there";
  }

  SimulatedDevice device;
  DeviceScope scope{device, 0};
};

}  // namespace parley::cuda::testing
