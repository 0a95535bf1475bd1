// The simulated device's events, and its words within one process; those between processes are in
// processes_test.cc.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "tests/unit/cuda/device.h"

namespace parley::cuda::testing {
namespace {

class SimulatedEvents : public ::testing::Test {
 protected:
  EnteredDevice at_;
};

TEST_F(SimulatedEvents, AreReachedInTheStreamsOrder) {
  const Event event = at_.event();
  EXPECT_EQ(at_.device.query(event), Code::ok) << "never recorded";
  at_.device.hold(default_stream);
  EXPECT_EQ(at_.device.record(event, default_stream), Code::ok);
  EXPECT_EQ(at_.device.query(event), Code::not_ready);
  at_.device.let_go(default_stream);
  EXPECT_EQ(at_.device.synchronize_event(event), Code::ok);
  EXPECT_EQ(at_.device.query(event), Code::ok);
  EXPECT_EQ(at_.device.destroy_event(event), Code::ok);
  EXPECT_EQ(at_.device.live_events(), 0u);
}

TEST_F(SimulatedEvents, HoldBackTheStreamThatWaits) {
  const Event event = at_.event();
  const Stream first = at_.stream();
  const Stream second = at_.stream();
  std::byte* memory = at_.memory(1);
  at_.device.hold(first);
  EXPECT_EQ(at_.device.fill(memory, '1', 1, first), Code::ok);
  EXPECT_EQ(at_.device.record(event, first), Code::ok);
  EXPECT_EQ(at_.device.wait(second, event), Code::ok);
  EXPECT_EQ(at_.device.fill(memory, '2', 1, second), Code::ok);
  EXPECT_EQ(at_.device.pending(second), 2u);
  at_.device.let_go(first);
  EXPECT_EQ(at_.device.synchronize(second), Code::ok);
  EXPECT_EQ(at_.text(memory, 1), "2");
}

TEST_F(SimulatedEvents, AreNoObstacleBeforeTheyAreRecorded) {
  const Event event = at_.event();
  const Stream held = at_.stream();
  const Stream waits = at_.stream();
  at_.device.hold(held);
  EXPECT_EQ(at_.device.wait(waits, event), Code::ok);
  EXPECT_EQ(at_.device.record(event, held), Code::ok);
  EXPECT_EQ(at_.device.synchronize(waits), Code::ok);
}

TEST(SimulatedEventsOfOneProcess, MayBeRecordedAgainBeforeTheyAreReached) {
  EnteredDevice at;
  const Event event = at.event();
  const Stream held = at.stream();
  const Stream waits = at.stream();
  std::byte* memory = at.memory(1);
  at.device.hold(held);
  EXPECT_EQ(at.device.record(event, held), Code::ok);
  EXPECT_EQ(at.device.wait(waits, event), Code::ok);
  EXPECT_EQ(at.device.fill(memory, 'w', 1, waits), Code::ok);
  EXPECT_EQ(at.device.record(event, default_stream), Code::ok);
  EXPECT_EQ(at.device.synchronize_event(event), Code::ok) << "the latest record counts";
  EXPECT_EQ(at.device.pending(waits), 2u) << "what was recorded when it was told to wait";
  EXPECT_EQ(at.text(memory, 1), "\xD7");
}

TEST(SimulatedEventsOfOneProcess, OrderDevices) {
  EnteredDevice at({.devices = 2});
  const Event event = at.event();
  std::byte* memory = at.memory(1);
  at.device.hold(default_stream, 0);
  EXPECT_EQ(at.device.fill(memory, 'd', 1, default_stream), Code::ok);
  EXPECT_EQ(at.device.record(event, default_stream), Code::ok);
  const DeviceScope other(at.device, 1);
  EXPECT_EQ(at.device.query(event), Code::invalid_context);
  EXPECT_EQ(at.device.wait(default_stream, event), Code::ok);
  EXPECT_EQ(at.device.pending(default_stream, 1), 1u);
  at.device.let_go(default_stream, 0);
  EXPECT_EQ(at.device.synchronize(default_stream), Code::ok);
  EXPECT_EQ(at.text(memory, 1), "d");
}

TEST(SimulatedEventsOfOneProcess, FailWithTheirDevice) {
  EnteredDevice at;
  const Event event = at.event();
  at.device.hold(default_stream);
  EXPECT_EQ(at.device.record(event, default_stream), Code::ok);
  at.device.break_device(0, Code::illegal_address);
  EXPECT_EQ(at.device.query(event), Code::illegal_address);
  EXPECT_EQ(at.device.synchronize_event(event), Code::illegal_address);
}

// A page of the host with words.
struct alignas(4096) Page {
  std::array<std::atomic<std::uint32_t>, 1024> words{};
};

TEST(SimulatedWords, HoldBackTheStreamThatWaits) {
  EnteredDevice at;
  Page page;
  ASSERT_EQ(at.device.register_host(&page, sizeof page), Code::ok);
  const Stream first = at.stream(), second = at.stream();
  std::byte* memory = at.memory(1);
  at.device.hold(first);
  EXPECT_EQ(at.device.fill(memory, '1', 1, first), Code::ok);
  EXPECT_EQ(at.device.write_word(first, page.words[5], 7), Code::ok);
  EXPECT_EQ(at.device.wait_word(second, page.words[5], 7), Code::ok);
  EXPECT_EQ(at.device.fill(memory, '2', 1, second), Code::ok);
  EXPECT_EQ(at.device.pending(second), 2u);
  EXPECT_EQ(at.device.unregister_host(&page), Code::invalid_value) << "streams are to use it still";
  at.device.let_go(first);
  EXPECT_EQ(at.device.synchronize(second), Code::ok);
  EXPECT_EQ(at.text(memory, 1), "2");
  EXPECT_EQ(page.words[5], 7u);
  EXPECT_EQ(at.device.unregister_host(&page), Code::ok);
  EXPECT_EQ(at.device.live_registrations(), 0u);
}

TEST(SimulatedWords, AreComparedRound) {
  EnteredDevice at;
  Page page;
  ASSERT_EQ(at.device.register_host(&page, sizeof page), Code::ok);
  page.words[0] = 3;
  EXPECT_EQ(at.device.wait_word(default_stream, page.words[0], 0xFFFF'FFFE), Code::ok) << "3 is five later";
  EXPECT_EQ(at.device.synchronize(default_stream), Code::ok);
  EXPECT_EQ(at.device.wait_word(default_stream, page.words[0], 4), Code::ok);
  EXPECT_EQ(at.device.pending(default_stream), 1u);
  page.words[0] = 4;
  EXPECT_EQ(at.device.synchronize(default_stream), Code::ok);
  EXPECT_EQ(at.device.unregister_host(&page), Code::ok);
}

TEST(SimulatedWords, LieInRegisteredMemory) {
  EnteredDevice at;
  Page page;
  EXPECT_EQ(at.device.write_word(default_stream, page.words[0], 1), Code::invalid_value);
  EXPECT_EQ(at.device.wait_word(default_stream, page.words[0], 1), Code::invalid_value);
  EXPECT_EQ(at.device.register_host(&page, sizeof page), Code::ok);
  EXPECT_EQ(at.device.register_host(&page, sizeof page), Code::invalid_value) << "it is already";
  EXPECT_EQ(at.device.write_word(default_stream, page.words[1023], 1), Code::ok);
  EXPECT_EQ(at.device.synchronize(default_stream), Code::ok);
  EXPECT_EQ(at.device.unregister_host(&page), Code::ok);
}

}  // namespace
}  // namespace parley::cuda::testing
