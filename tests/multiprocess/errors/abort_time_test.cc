// How long those who wait take to hear of abort(): whoever they are, wherever they wait.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

constexpr int ranks = 3;
constexpr int aborter = 1;
constexpr std::uint64_t seed = 815;
constexpr std::chrono::milliseconds promised{100};
constexpr std::chrono::seconds generous{10};
constexpr std::size_t large_bytes = std::size_t{8} << 20;

struct Outcome {
  std::array<std::atomic<int>, ranks> calling{};  // threads that are about to wait
  std::atomic<std::int64_t> abort_ns{0};
  std::atomic<std::int64_t> slowest_ns{0};  // from abort() to the last waiter's return
  std::atomic<int> returned{0};
};

// One way to wait in vain.
struct Waiter {
  const char* name;
  std::function<void(ProcessGroup&, int other, std::int64_t tag)> call;
};

// Receives and sends again and again, so that a message is always under way.
void stream(ProcessGroup& world, int other, std::int64_t tag) {
  std::vector<std::byte> out(large_bytes), in(large_bytes);
  for (;;) world.sendrecv(out, other, in, any_source, {.send_tag = tag, .recv_tag = tag});
}

const std::array<Waiter, 9> waiters{{
    {"recv", [](ProcessGroup& world, int other, std::int64_t tag) { world.recv<int>(other, {.tag = tag}); }},
    {"recv from any source",
     [](ProcessGroup& world, int, std::int64_t tag) { world.recv<int>(any_source, {.tag = tag}); }},
    {"irecv",
     [](ProcessGroup& world, int other, std::int64_t tag) {
       int value = 0;
       world.irecv(std::span(&value, 1), other, {.tag = tag}).wait();
     }},
    {"wait_any",
     [](ProcessGroup& world, int other, std::int64_t tag) {
       int values[2] = {};
       Work works[2] = {world.irecv(std::span(values, 1), other, {.tag = tag}),
                        world.irecv(std::span(values + 1, 1), any_source, {.tag = tag})};
       works[wait_any(works)].wait();
     }},
    {"probe", [](ProcessGroup& world, int other,
                 std::int64_t tag) { auto message = world.probe(other, {.tag = tag}); }},
    {"synchronous send", [](ProcessGroup& world, int other,
                            std::int64_t tag) { world.send(1, other, {.tag = tag, .synchronous = true}); }},
    {"large send",
     [](ProcessGroup& world, int other, std::int64_t tag) {
       const std::vector<std::byte> data(large_bytes);
       world.send(data, other, {.tag = tag});
     }},
    {"stream", stream},
    {"barrier", [](ProcessGroup& world, int, std::int64_t) { world.barrier(); }},
}};

// The aborting rank stays out of the barrier, or it would end.
std::size_t waiters_of(int rank) {
  return rank == aborter ? waiters.size() - 1 : waiters.size();
}

int waiters_of_all() {
  std::size_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += waiters_of(rank);
  return static_cast<int>(sum);
}

void wait_for_the_abort(ProcessGroup& world, std::size_t number, const std::string& reason,
                        Outcome& outcome) {
  const int other = (world.rank() + 1) % ranks;
  ++outcome.calling[static_cast<std::size_t>(world.rank())];
  const Waiter& waiter = waiters[number];
  try {
    const auto error = expect_throws<AbortedError>(
        [&] { waiter.call(world, other, static_cast<std::int64_t>(number) + 1); });
    const std::int64_t took = now().count() - outcome.abort_ns;
    for (std::int64_t slowest = outcome.slowest_ns;
         slowest < took && !outcome.slowest_ns.compare_exchange_weak(slowest, took);)
      continue;
    expect_equal(error.details().culprit, aborter, "culprit");
    expect_contains(error.what(), reason);
    expect_contains(error.what(), "rank " + std::to_string(aborter) + " (");
    ++outcome.returned;
  } catch (const std::exception& error) {
    throw Unexpected(std::string(waiter.name) + ": " + error.what());
  }
}

void run_rank(int rank, std::chrono::microseconds pause, const std::string& reason, Outcome& outcome) {
  ProcessGroup world = init();
  world.barrier();
  std::vector<std::exception_ptr> failures(waiters_of(rank));
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < failures.size(); ++number) {
    threads.emplace_back([&, number] {
      try {
        wait_for_the_abort(world, number, reason, outcome);
      } catch (...) {
        failures[number] = std::current_exception();
      }
    });
  }
  if (rank == aborter) {
    const auto all_call = [&] {
      for (int other = 0; other < ranks; ++other)
        if (outcome.calling[static_cast<std::size_t>(other)] != static_cast<int>(waiters_of(other)))
          return false;
      return true;
    };
    await(all_call, "all threads of all ranks are about to wait");
    std::this_thread::sleep_for(pause);
    outcome.abort_ns = now().count();
    world.abort(reason);
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
  await([&] { return outcome.returned == waiters_of_all(); }, "all waiters of all ranks");
}

TEST(Abort, EveryWaiterOfEveryRankReturnsAtOnceWithTheReason) {
  const int repeats = long_tests() ? 200 : 5;
  Random random(seed);
  std::vector<std::chrono::nanoseconds> times;
  for (int repeat = 0; repeat < repeats && !::testing::Test::HasFailure(); ++repeat) {
    const SharedPage<Outcome> outcome;
    // While they still poll, and while they sleep.
    const std::chrono::microseconds pause(random.below(random.one_in(2) ? 1000 : 30'000));
    const std::string reason = "reason number " + std::to_string(repeat);
    EXPECT_EQ(run_ranks(ranks, [&](int rank, int) { run_rank(rank, pause, reason, *outcome); }), 0)
        << "repeat " << repeat << ", seed " << seed;
    EXPECT_EQ(outcome->returned, waiters_of_all());
    times.emplace_back(outcome->slowest_ns);
    EXPECT_LT(times.back(), generous * slowness());
  }
  ASSERT_FALSE(times.empty());
  std::sort(times.begin(), times.end());
  const auto p99 = times[(times.size() - 1) * 99 / 100];
  std::printf("abort() to the last waiter's return, %zu times: median %.2f ms, p99 %.2f ms\n", times.size(),
              in_ms(times[times.size() / 2]), in_ms(p99));
  if (long_tests()) {
    EXPECT_LT(p99, promised * slowness());
  }
}

}  // namespace
}  // namespace parley::testing
