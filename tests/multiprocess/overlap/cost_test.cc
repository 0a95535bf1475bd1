// What overlap costs: isend() of 64 MiB, 50 ms of computing, wait(), beside each of the two alone.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/sanitizer.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

// Work that takes as long as it takes, in steps that wait for each other: a thread that is put on the same
// core shows, as it would not if a clock told when to stop.
std::uint64_t compute(std::uint64_t steps) {
  std::uint64_t value = 1;
  for (std::uint64_t step = 0; step < steps; ++step) value = value * 6364136223846793005U + step;
  return value;
}

std::chrono::nanoseconds median(std::vector<std::chrono::nanoseconds> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// How long `action` takes.
template <typename Action>
std::chrono::nanoseconds timed(const Action& action) {
  const auto begun = now();
  action();
  return now() - begun;
}

// Steps of compute() that take 50 ms when nothing else runs on the core.
std::uint64_t steps_of_50_ms(std::uint64_t& sum) {
  constexpr std::uint64_t probe = 1'000'000;
  auto shortest = 1s + 0ns;
  for (int attempt = 0; attempt < 20; ++attempt)
    shortest = std::min(shortest, timed([&] { sum += compute(probe); }));
  return probe * static_cast<std::uint64_t>(50ms / shortest);
}

struct Times {
  std::vector<std::chrono::nanoseconds> computing, sending, both;
};

Times measure(ProcessGroup& world, std::vector<std::uint8_t>& data, int rounds) {
  Times times;
  std::uint64_t sum = 0;
  const std::uint64_t steps = steps_of_50_ms(sum);
  for (int round = 0; round < rounds; ++round) {
    times.computing.push_back(timed([&] { sum += compute(steps); }));
    world.barrier();
    times.sending.push_back(timed([&] { world.isend(data, 1).wait(); }));
    world.barrier();
    times.both.push_back(timed([&] {
      Work work = world.isend(data, 1);
      sum += compute(steps);
      work.wait();
    }));
  }
  std::printf("checksum %llx\n", static_cast<unsigned long long>(sum));
  return times;
}

// The promised ratio is asserted in long tests only: on a machine that others use, two cores may not be
// there.
TEST(Overlap, CostsTheLongerOfTheTwo) {
  constexpr std::size_t bytes = std::size_t{sanitizer::is_on ? 8 : 64} << 20;
  const int rounds = long_tests() ? 31 : 5;
  const int code = run_ranks(2, [&](int rank, int) {
    ProcessGroup world = init();
    std::vector<std::uint8_t> data(bytes, 1);
    if (rank == 1) {
      for (int round = 0; round < 2 * rounds; ++round) {
        world.barrier();
        world.recv(data, 0);
      }
      return;
    }
    const Times times = measure(world, data, rounds);
    const auto computing = median(times.computing), sending = median(times.sending),
               both = median(times.both);
    const double ratio = in_ms(both) / in_ms(std::max(computing, sending));
    std::printf("computing %.1f ms, sending %.1f ms, both %.1f ms: %.3f x the longer\n", in_ms(computing),
                in_ms(sending), in_ms(both), ratio);
    if (long_tests()) expect(ratio <= 1.1, "the ratio: " + std::to_string(ratio));
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
