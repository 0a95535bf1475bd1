// The simulated device's streams: order, holding back, kernels, failures.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <span>
#include <string>

#include "tests/unit/cuda/device.h"

namespace parley::cuda::testing {
namespace {

TEST(SimulatedStreams, WorkInOrderAndLater) {
  EnteredDevice at;
  const Stream stream = at.stream();
  std::byte* memory = at.memory(4);
  at.device.hold(stream);
  for (const char letter : {'a', 'b', 'c'})
    EXPECT_EQ(at.device.fill(memory, static_cast<std::uint8_t>(letter), 4, stream), Code::ok);
  std::byte* host = at.pinned(4);
  EXPECT_EQ(at.device.copy(host, memory, 4, stream), Code::ok);
  EXPECT_EQ(at.device.pending(stream), 4u);
  EXPECT_EQ(at.text(memory, 4), "\xD7\xD7\xD7\xD7") << "held back";
  at.device.let_go(stream);
  EXPECT_EQ(at.device.synchronize(stream), Code::ok);
  EXPECT_EQ(std::memcmp(host, "cccc", 4), 0);
  EXPECT_EQ(at.device.pending(stream), 0u);
}

TEST(SimulatedStreams, DoNotWaitForEachOther) {
  EnteredDevice at;
  const Stream held = at.stream();
  const Stream other = at.stream();
  std::byte* memory = at.memory(2);
  at.device.hold(held);
  EXPECT_EQ(at.device.fill(memory, 'x', 2, held), Code::ok);
  for (const Stream stream : {other, default_stream}) {
    EXPECT_EQ(at.device.fill(memory, 'y', 1, stream), Code::ok);
    EXPECT_EQ(at.device.synchronize(stream), Code::ok);
  }
  EXPECT_EQ(at.text(memory, 2), "y\xD7");
  at.device.let_go(held);
  EXPECT_EQ(at.device.synchronize(held), Code::ok);
  EXPECT_EQ(at.text(memory, 2), "xx");
}

TEST(SimulatedStreams, CopyPageableMemoryAtOnce) {
  EnteredDevice at;
  std::byte* memory = at.memory(8);
  std::array<char, 8> text{"parley!"};
  EXPECT_EQ(at.device.copy(memory, text.data(), 8, default_stream), Code::ok);
  EXPECT_EQ(at.text(memory, 7), "parley!");
  EXPECT_EQ(at.device.waiting_copies(), 1u);
  std::byte* pinned = at.pinned(8);
  EXPECT_EQ(at.device.copy(pinned, memory, 8, default_stream), Code::ok);
  EXPECT_EQ(at.device.waiting_copies(), 1u);
}

TEST(SimulatedStreams, LaunchKernelsByName) {
  struct Arguments {
    std::byte* memory;
    int count;
  };
  EnteredDevice at;
  at.device.add_kernel("count_up", [](std::span<const std::byte> bytes, const KernelMemory& memory) {
    Arguments arguments;
    std::memcpy(&arguments, bytes.data(), sizeof arguments);
    auto* to = static_cast<char*>(memory.reach(arguments.memory, static_cast<std::size_t>(arguments.count)));
    for (int i = 0; i < arguments.count; ++i) to[i] = static_cast<char>('0' + i);
  });
  Arguments arguments{at.memory(4), 4};
  Launch launch{.name = "count_up", .arguments = std::as_bytes(std::span(&arguments, 1))};
  at.device.hold(default_stream);
  EXPECT_EQ(at.device.launch(launch, default_stream), Code::ok);
  std::byte* memory = arguments.memory;
  arguments = {};  // they were copied
  at.device.let_go(default_stream);
  EXPECT_EQ(at.device.synchronize(default_stream), Code::ok);
  EXPECT_EQ(at.text(memory, 4), "0123");
  launch.name = "unheard_of";
  EXPECT_EQ(at.device.launch(launch, default_stream), Code::not_found);
}

TEST(SimulatedStreams, BreakTheDeviceByAnIllegalAddress) {
  EnteredDevice at({.devices = 2});
  std::byte* memory = at.memory(4096);
  std::byte* freed = at.memory(4096);
  EXPECT_EQ(at.device.free(freed), Code::ok);
  EXPECT_EQ(at.device.fill(freed, 0, 1, default_stream), Code::ok) << "nobody has looked yet";
  EXPECT_EQ(at.device.synchronize(default_stream), Code::illegal_address);
  EXPECT_EQ(at.device.fill(memory, 0, 1, default_stream), Code::illegal_address) << "for ever";
  const DeviceScope other(at.device, 1);
  EXPECT_EQ(at.device.synchronize(default_stream), Code::ok);
}

TEST(SimulatedStreams, ReachNoFurtherThanTheAllocation) {
  EnteredDevice at;
  std::byte* memory = at.memory(100);
  std::byte* host = at.pinned(200);
  EXPECT_EQ(at.device.copy(host, memory, 101, default_stream), Code::ok);
  EXPECT_EQ(at.device.synchronize(default_stream), Code::illegal_address);
}

TEST(SimulatedStreams, AreOfTheEnteredDevice) {
  EnteredDevice at({.devices = 2});
  const Stream stream = at.stream();
  const DeviceScope other(at.device, 1);
  EXPECT_EQ(at.device.synchronize(stream), Code::invalid_context);
  EXPECT_EQ(at.device.destroy_stream(stream), Code::invalid_context);
}

TEST(SimulatedStreams, AreDestroyedWithoutLosingWork) {
  EnteredDevice at;
  const Stream stream = at.stream();
  std::byte* memory = at.memory(1);
  at.device.hold(stream);
  EXPECT_EQ(at.device.fill(memory, 'z', 1, stream), Code::ok);
  EXPECT_EQ(at.device.destroy_stream(stream), Code::ok);
  EXPECT_EQ(at.device.live_streams(), 0u);
  EXPECT_EQ(at.device.synchronize(stream), Code{400}) << "an invalid handle";
  std::byte* other = at.memory(1);
  EXPECT_EQ(at.device.free(other), Code::ok) << "waits for all of the device";
  EXPECT_EQ(at.text(memory, 1), "z");
}

TEST(SimulatedStreams, FailWhenATestSaysSo) {
  EnteredDevice at;
  std::byte* memory = at.memory(1);
  at.device.fail_next(Call::fill, Code::out_of_memory, 2);
  EXPECT_EQ(at.device.fill(memory, 'a', 1, default_stream), Code::out_of_memory);
  EXPECT_EQ(at.device.fill(memory, 'a', 1, default_stream), Code::out_of_memory);
  EXPECT_EQ(at.device.pending(default_stream), 0u);
  EXPECT_EQ(at.device.fill(memory, 'a', 1, default_stream), Code::ok);
  EXPECT_EQ(at.device.count(Call::fill), 3u);
  EXPECT_EQ(at.device.count(Call::synchronize), 0u);
  at.device.break_device(0, Code::no_device);
  EXPECT_EQ(at.device.synchronize(default_stream), Code::no_device);
}

TEST(SimulatedStreams, NeedNoEndWhenTheDeviceGoes) {
  EnteredDevice at;
  const Event event = at.event();
  const Stream held = at.stream();
  at.device.hold(held);
  EXPECT_EQ(at.device.record(event, held), Code::ok);
  EXPECT_EQ(at.device.wait(default_stream, event), Code::ok);
  EXPECT_GT(at.device.pending(default_stream), 0u);
}

}  // namespace
}  // namespace parley::cuda::testing
