// Ranks that are threads of one process: a message between devices is one copy, whatever the memory is.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using cuda::testing::Call;
using Source = DeviceBuffer::Source;

constexpr std::size_t large = (2 << 20) + 9;

// Memory that other processes cannot open comes of a simulated device alone.
std::vector<Source> sources() {
  if (DeviceRank::is_real()) return {Source::plain};
  return {Source::plain, Source::pool};
}

// In a process of their own: the one that runs the tests forks, and uses no device.
int run_threads(const std::function<void(DeviceRank&)>& in_process) {
  return run_ranks(1, [&](int, int) {
    DeviceRank device;
    in_process(device);
    if (DeviceRank::is_real()) return;
    expect_equal(device.simulated().live_events(), 0U, "events");
    expect_equal(device.simulated().live_registrations(), 0U, "registrations");
    expect_equal(device.simulated().live_allocations(), 0U, "allocations");
  });
}

// Each sends to each, itself too, what tells them apart.
void exchange(ProcessGroup& world, DeviceRank& device, std::size_t each, Source source) {
  const auto seed = [&](int from, int to) { return static_cast<std::uint64_t>(from * world.size() + to); };
  const auto all = static_cast<std::size_t>(world.size());
  const DeviceBuffer sent(device, all * each, source), received(device, all * each, source);
  for (int to = 0; to < world.size(); ++to)
    sent.upload(pattern(each, seed(world.rank(), to)), static_cast<std::size_t>(to) * each);
  std::vector<Work> works;
  for (int peer = 0; peer < world.size(); ++peer) {
    const std::size_t offset = static_cast<std::size_t>(peer) * each;
    works.push_back(world.irecv(received.tensor(each, offset), peer));
    works.push_back(world.isend(sent.tensor(each, offset), peer));
  }
  for (Work& work : works) work.wait();
  for (int from = 0; from < world.size(); ++from)
    expect_pattern(received.download(each, static_cast<std::size_t>(from) * each), seed(from, world.rank()));
}

TEST(DeviceThreads, SendOneDeviceCopyForAMessageWhateverTheMemory) {
  const int code = run_threads([](DeviceRank& device) {
    for (const Source source : sources())
      run_world(2, [&](ProcessGroup& world) {
        const DeviceBuffer buffer(device, large, source);
        if (world.rank() == 0) buffer.upload(pattern(large, 1));
        world.barrier();
        const auto copies = [&] { return DeviceRank::is_real() ? 0 : device.simulated().count(Call::copy); };
        const auto before = copies();
        world.barrier();
        world.rank() == 0 ? (void)world.send(buffer.tensor(), 1) : (void)world.recv(buffer.tensor(), 0);
        world.barrier();
        if (!DeviceRank::is_real()) expect_equal(copies() - before, 1U, "copies");
        expect_contains(world.describe(), "device memory by device copies");
        world.barrier();
        expect_pattern(buffer.download(large), 1);
      });
    if (DeviceRank::is_real()) return;
    for (const Call call : {Call::allocate_pinned, Call::export_memory, Call::import_memory})
      expect_equal(device.simulated().count(call), 0U, "calls of what is for two processes, or the host");
  });
  EXPECT_EQ(code, 0);
}

TEST(DeviceThreads, OfSeveralExchangeAllSizesAtOnce) {
  const int code = run_threads([](DeviceRank& device) {
    run_world(4, [&](ProcessGroup& world) {
      for (const Source source : sources())
        for (const std::size_t each : {std::size_t{1}, std::size_t{4096}, std::size_t{300'001}, large})
          exchange(world, device, each, source);
    });
  });
  EXPECT_EQ(code, 0);
}

// What is delayed or torn is what goes by a link.
TEST(DeviceThreads, WithAnyFaultDataOfOthersGoByTheLink) {
  const int code = run_threads([](DeviceRank& device) {
    const auto send = [&](ProcessGroup& world) { exchange(world, device, 300'001, Source::plain); };
    for (const Faults& faults : {Faults{.delay = 0.2}, Faults{.refusal = 0.2}, Faults{.split = 0.5}}) {
      const auto copies = [&] { return DeviceRank::is_real() ? 0 : device.simulated().count(Call::copy); };
      const auto before = copies();
      run_world(3, send, {.faults = faults});
      // To the device and back of nine messages each; six go by the host, and three to their senders.
      if (!DeviceRank::is_real()) expect(copies() - before >= 18 + 6 * 2 + 3, "by the host");
    }
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
