// Random programs between 2 to 8 processes; every byte is checked.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <cstdio>

#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/traffic/plan.h"
#include "tests/multiprocess/traffic/random_traffic.h"

namespace parley::testing {
namespace {

void exchange(PlanOptions options, Style style) {
  const std::uint64_t runs = long_tests() ? 50 : 1;
  for (std::uint64_t run = 0; run < runs; ++run, ++options.seed) {
    std::printf("%d ranks, %zu messages, seed %llu\n", options.ranks, options.messages,
                static_cast<unsigned long long>(options.seed));
    const int code = run_ranks(options.ranks, [&](int, int) {
      ProcessGroup world = init();
      exchange_at_random(world, options, style);
    });
    ASSERT_EQ(code, 0) << "seed " << options.seed;
  }
}

TEST(RandomTraffic, BetweenTwo) {
  exchange({.seed = 12, .ranks = 2, .messages = 3000}, Style::mixed);
}
TEST(RandomTraffic, BetweenThreeWithFewTags) {
  exchange({.seed = 13, .ranks = 3, .messages = 3000, .tags = 1}, Style::mixed);
}
TEST(RandomTraffic, BetweenFourWithManyTags) {
  exchange({.seed = 14, .ranks = 4, .messages = 3000, .tags = 500}, Style::mixed);
}
TEST(RandomTraffic, BetweenEight) {
  exchange({.seed = 18, .ranks = 8, .messages = 4000}, Style::mixed);
}
TEST(RandomTraffic, MessagesOf64MiB) {
  exchange({.seed = 22, .ranks = 3, .messages = 300, .largest_bytes = std::size_t{64} << 20}, Style::mixed);
}
TEST(RandomTraffic, TwoSendAllBeforeTheyReceive) {
  exchange({.seed = 32, .ranks = 2, .messages = 6000}, Style::send_first);
}
TEST(RandomTraffic, FiveSendAllBeforeTheyReceive) {
  exchange({.seed = 35, .ranks = 5, .messages = 5000}, Style::send_first);
}
TEST(RandomTraffic, BlockingSendsInAThreadOfTwo) {
  exchange({.seed = 42, .ranks = 2, .messages = 2000}, Style::threads);
}
TEST(RandomTraffic, BlockingSendsInAThreadOfSix) {
  exchange({.seed = 46, .ranks = 6, .messages = 3000}, Style::threads);
}

}  // namespace
}  // namespace parley::testing
