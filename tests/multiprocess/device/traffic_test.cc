// Random programs of messages, each end of which is on the host or on a device; every byte is checked.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/device/message_source.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/traffic/random_traffic.h"

namespace parley::testing {
namespace {

using Where = DeviceMessageSource::Where;

// How device memory goes on the links of this test.
const char* way() {
  const char* const transports = std::getenv("PARLEY_TRANSPORTS");  // NOLINT(concurrency-mt-unsafe)
  const bool is_tcp = transports != nullptr && std::string_view(transports) == "tcp";
  return is_tcp ? "device memory by way of the host" : "device memory by CUDA IPC";
}

struct Ends {
  Where out = Where::any;
  Where in = Where::any;
};

void exchange(PlanOptions options, Style style, Ends ends = {}) {
  options.largest_bytes = std::size_t{3} << 20;
  options.messages /= static_cast<std::size_t>(slowness());
  const std::uint64_t runs = long_tests() ? 20 : 1;
  for (std::uint64_t run = 0; run < runs; ++run, ++options.seed) {
    std::printf("%d ranks, %zu messages, seed %llu\n", options.ranks, options.messages,
                static_cast<unsigned long long>(options.seed));
    const int code = run_ranks(options.ranks, [&](int rank, int) {
      DeviceRank device;
      const std::uint64_t own = options.seed * 100 + 2 * static_cast<std::uint64_t>(rank);
      DeviceMessageSource out(device, ends.out, own), in(device, ends.in, own + 1);
      ProcessGroup world = init();
      exchange_at_random(world, options, style,
                         {.out = [&](std::size_t bytes) { return out.make(bytes); },
                          .in = [&](std::size_t bytes) { return in.make(bytes); }});
      if (ends.out == Where::device && ends.in == Where::device) expect_contains(world.describe(), way());
      world.barrier();  // nobody has left yet
      destroy();
    });
    ASSERT_EQ(code, 0) << "seed " << options.seed;
  }
}

TEST(DeviceTraffic, BetweenDevices) {
  exchange({.seed = 2, .ranks = 2, .messages = 800}, Style::mixed, {Where::device, Where::device});
}
TEST(DeviceTraffic, FromDevicesToHosts) {
  exchange({.seed = 3, .ranks = 2, .messages = 800}, Style::mixed, {Where::device, Where::host});
}
TEST(DeviceTraffic, FromHostsToDevices) {
  exchange({.seed = 4, .ranks = 2, .messages = 800}, Style::mixed, {Where::host, Where::device});
}
TEST(DeviceTraffic, BetweenTwoThatHaveBoth) {
  exchange({.seed = 12, .ranks = 2, .messages = 1500}, Style::mixed);
}
TEST(DeviceTraffic, BetweenThreeWithFewTags) {
  exchange({.seed = 13, .ranks = 3, .messages = 1500, .tags = 1}, Style::mixed);
}
TEST(DeviceTraffic, BetweenFourWithManyTags) {
  exchange({.seed = 14, .ranks = 4, .messages = 1500, .tags = 200}, Style::mixed);
}
TEST(DeviceTraffic, TwoSendAllBeforeTheyReceive) {
  exchange({.seed = 32, .ranks = 2, .messages = 1500}, Style::send_first);
}
TEST(DeviceTraffic, FourSendAllBeforeTheyReceive) {
  exchange({.seed = 34, .ranks = 4, .messages = 1500}, Style::send_first);
}
TEST(DeviceTraffic, BlockingSendsInAThreadOfThree) {
  exchange({.seed = 43, .ranks = 3, .messages = 1000}, Style::threads);
}

}  // namespace
}  // namespace parley::testing
