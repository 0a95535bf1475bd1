// abort() ends what every thread of every rank waits for.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

// Runs each in a thread of its own; rethrows the first failure.
void run_in_threads(const std::vector<std::function<void()>>& actions) {
  std::vector<std::exception_ptr> failures(actions.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        actions[i]();
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

TEST(Abort, EndsEightThreadsOnEveryRank) {
  const int code = run_ranks(3, [](int rank, int count) {
    ProcessGroup world = init();
    const int other = (rank + 1) % count;
    std::vector<std::byte> large(std::size_t{4} << 20);
    std::vector<std::byte> in[6];
    for (auto& buffer : in) buffer.resize(large.size());
    std::atomic<int> ready{0};
    const auto until_aborted = [&](const std::function<void()>& call) {
      return [&, call] {
        ++ready;
        const auto error = expect_throws<AbortedError>(call);
        expect_contains(error.what(), "was aborted by rank 1 (");
        expect_contains(error.what(), ": enough");
        expect_equal(error.details().culprit, 1, "culprit");
      };
    };
    std::vector<std::function<void()>> waiters{
        until_aborted([&] { world.recv(in[0], other); }),
        until_aborted([&] { world.recv(in[1], any_source, {.tag = 2}); }),
        until_aborted([&] { auto message = world.probe(other, {.tag = 3}); }),
        until_aborted([&] { auto message = world.probe(any_source, {.tag = 4}); }),
        until_aborted([&] { world.irecv(in[2], other, {.tag = 5}).wait(); }),
        until_aborted([&] { world.send(large, other, {.tag = 6}); }),
        until_aborted([&] { world.send(large, other, {.tag = 7, .synchronous = true}); }),
    };
    // Rank 1 does not call it, so that the barrier cannot end; it aborts when all its other threads wait.
    if (rank != 1) {
      waiters.push_back(until_aborted([&] { world.barrier(); }));
    } else {
      waiters.emplace_back([&] {
        while (ready != 7) std::this_thread::yield();
        for (const int peer : {0, 2}) world.recv<int>(peer, {.tag = 8});
        world.abort("enough");
      });
    }
    if (rank != 1) world.send(0, 1, {.tag = 8});
    run_in_threads(waiters);
    expect_throws<AbortedError>([&] { world.send(1, other); });
    expect_throws<AbortedError>([&] { world.recv(in[0], other); });
    expect_throws<AbortedError>([&] { world.barrier(); });
  });
  EXPECT_EQ(code, 0);
}

// In the middle of large messages, whose pieces are on the link.
TEST(Abort, DuringLargeTransfers) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    std::vector<std::byte> out(std::size_t{16} << 20), in(out.size());
    const auto error = expect_throws<AbortedError>([&] {
      for (int round = 0;; ++round) {
        Work receive = world.irecv(in, 1 - rank);
        Work send = world.isend(out, 1 - rank);
        if (rank == 0 && round == 3) world.abort("half way");
        send.wait();
        receive.wait();
      }
    });
    expect_equal(error.details().culprit, 0, "culprit");
  });
  EXPECT_EQ(code, 0);
}

// More threads than the machine has cores, all sending and receiving at once.
TEST(Threads, EveryThreadTalksToItsCounterpart) {
  constexpr int threads = 6;
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    std::vector<std::function<void()>> actions;
    for (int number = 0; number < threads; ++number) {
      actions.emplace_back([&, number] {
        std::vector<int> out(20'000), in(out.size());
        for (int round = 0; round < 40; ++round) {
          const std::size_t count = round % 4 == 0 ? out.size() : 4;
          out.assign(out.size(), rank * 1000 + number * 100 + round);
          const auto status = world.sendrecv(std::span(out).first(count), 1 - rank, in, 1 - rank,
                                             {.send_tag = number, .recv_tag = number});
          expect_equal(status.bytes, count * sizeof(int), "bytes");
          expect_equal(in[count - 1], (1 - rank) * 1000 + number * 100 + round, "value");
        }
      });
    }
    // One thread probes with a wildcard for what another one cannot take.
    actions.emplace_back([&] {
      for (int round = 0; round < 40; ++round) {
        world.send(round, 1 - rank, {.tag = 50});
        int value = -1;
        auto message = world.probe(any_source, {.tag = 50});
        message.recv(std::span(&value, 1));
        expect_equal(value, round, "probed value");
      }
    });
    run_in_threads(actions);
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
