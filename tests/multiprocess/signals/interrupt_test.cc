// Thousands of signals, each of which ends whatever system call a thread is in with EINTR: nothing may
// notice.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/flatness.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/multiprocess/support/side_process.h"
#include "tests/multiprocess/traffic/plan.h"
#include "tests/multiprocess/traffic/receiver.h"
#include "tests/multiprocess/traffic/sender.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t seed = 1234;
constexpr std::chrono::microseconds pause_between_signals{200};
// Rounds after which the process has all that it keeps.
constexpr std::uint64_t warm_up = 2;

struct Room {
  std::array<std::atomic<pid_t>, 2> pids{};
  std::atomic<bool> over{false};         // no rank may be sent a signal any more
  std::atomic<bool> sender_gone{false};  // and none will be
};

std::atomic<int> interruptions{0};
static_assert(std::atomic<int>::is_always_lock_free);

// Signals until it is enough: so many, and for a minute with PARLEY_LONG_TESTS=1.
class Storm {
 public:
  [[nodiscard]] bool is_over() const {
    return interruptions >= 2000 && (!long_tests() || std::chrono::steady_clock::now() - begun_ >= 1min);
  }
  void report(int rank) const {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun_;
    std::printf("rank %d: %d signals in %.1f s\n", rank, interruptions.load(), took.count());
  }

 private:
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

// Without SA_RESTART.
void interrupt_on(int signal_number) {
  struct sigaction action {};
  action.sa_handler = [](int) { ++interruptions; };
  expect(sigaction(signal_number, &action, nullptr) == 0, "sigaction");
}

// The kernel's own clock: signals that start with the first line of init().
void start_timer() {
  interrupt_on(SIGALRM);
  itimerval timer{};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = pause_between_signals.count();
  expect(setitimer(ITIMER_REAL, &timer, nullptr) == 0, "setitimer");
}

// Another process: signals at moments that have nothing to do with what the ranks do.
void send_signals(Room& room) {
  Random random(seed);
  while (!room.over) {
    for (const auto& pid : room.pids)
      if (pid != 0) kill(pid, SIGUSR1);
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(400)));
  }
  room.sender_gone = true;
}

// Small and large, with pauses in which the other one goes to sleep in its receive.
void ping_pong(ProcessGroup& world, Random random) {
  const int other = 1 - world.rank();
  std::vector<std::int32_t> out(300'000), in(out.size());
  for (std::int32_t round = 0; round < 40; ++round) {
    const std::size_t count = random.one_in(4) ? out.size() - random.below(1000) : 1 + random.below(100);
    const bool first = random.one_in(2) == (world.rank() == 0);
    const auto pause = std::chrono::microseconds(random.below(6000));
    out.assign(out.size(), round);
    if (first) {
      std::this_thread::sleep_for(pause);
      world.send(std::span(out).first(count), other, {.synchronous = random.one_in(2)});
    } else {
      (void)random.one_in(2);  // both draw the same numbers
      expect_equal(world.recv(in, other).bytes, count * 4, "bytes");
      expect_equal(in[count - 1], round, "value");
    }
  }
}

void random_traffic(ProcessGroup& world, std::uint64_t round) {
  const PlanOptions options{.seed = seed + round, .ranks = 2, .messages = 500};
  const auto plan = make_plan(options);
  Sender sender(world, plan, options);
  Receiver receiver(world, plan, options, Receiver::Mode::all);
  while (sender.advance()) receiver.advance();
  receiver.finish();
  sender.finish();
}

// A whole world, which is gone with its last handle; whether it was the last one.
bool live_through(std::uint64_t round, const Storm& storm) {
  ProcessGroup world = init();
  if (round <= warm_up) reach_limits(world);
  ping_pong(world, Random(seed + round));
  random_traffic(world, round);
  world.barrier();
  const bool over = agree(world, round > warm_up + 1 && storm.is_over());
  destroy();
  return over;
}

TEST(Signals, ATimerInterruptsEverythingFromInitToDestroy) {
  const int code = run_ranks(2,
                             [](int rank, int) {
                               start_timer();
                               const Storm storm;
                               Flatness flat;
                               for (std::uint64_t round = 0; !live_through(round, storm); ++round) {
                                 if (round == warm_up) flat.begin();
                                 if (round > warm_up) flat.expect_as_before();
                               }
                               storm.report(rank);
                             },
                             {.timeout = long_tests() ? 600s : 120s});
  EXPECT_EQ(code, 0);
}

TEST(Signals, OfAnotherProcessInterruptEveryWait) {
  const SharedPage<Room> room;
  const SideProcess side([&] { send_signals(*room); });
  const int code = run_ranks(2,
                             [&](int rank, int) {
                               interrupt_on(SIGUSR1);
                               room->pids[static_cast<std::size_t>(rank)] = getpid();
                               ProcessGroup world = init();
                               const Storm storm;
                               Flatness flat;
                               for (std::uint64_t round = 0;
                                    !agree(world, round > warm_up + 1 && storm.is_over()); ++round) {
                                 if (round <= warm_up) reach_limits(world);
                                 ping_pong(world, Random(seed + round));
                                 random_traffic(world, round);
                                 world.barrier();
                                 if (round == warm_up) flat.begin();
                                 if (round > warm_up) flat.expect_as_before();
                               }
                               // The process that sends them must not meet another process with our number.
                               world.barrier();
                               room->over = true;
                               while (!room->sender_gone) std::this_thread::yield();
                               storm.report(rank);
                             },
                             {.timeout = long_tests() ? 600s : 120s});
  EXPECT_EQ(code, 0) << "seed " << seed;
}

// The poller is one thread, those who wait for it are others: all of them are interrupted.
TEST(Signals, InterruptEachOfSeveralThreadsThatWait) {
  constexpr int threads = 4;
  const int code =
      run_ranks(2,
                [](int rank, int) {
                  interrupt_on(SIGUSR1);
                  ProcessGroup world = init();
                  std::atomic<int> running{threads};
                  std::array<std::exception_ptr, threads> failures;
                  std::vector<std::thread> pool;
                  for (int number = 0; number < threads; ++number) {
                    pool.emplace_back([&, number] {
                      try {
                        Random random(seed + static_cast<std::uint64_t>(number));
                        for (int round = 0; round < (long_tests() ? 3000 : 100); ++round) {
                          const auto pause = std::chrono::microseconds(random.below(10'000));
                          if (round % 2 == rank) {
                            std::this_thread::sleep_for(pause);
                            world.send(round, 1 - rank, {.tag = number});
                          } else {
                            expect_equal(world.recv<int>(1 - rank, {.tag = number}), round, "value");
                          }
                        }
                      } catch (...) {
                        failures[static_cast<std::size_t>(number)] = std::current_exception();
                      }
                      --running;
                    });
                  }
                  while (running != 0) {
                    for (std::thread& thread : pool) pthread_kill(thread.native_handle(), SIGUSR1);
                    std::this_thread::sleep_for(pause_between_signals);
                  }
                  for (std::thread& thread : pool) thread.join();
                  for (const auto& failure : failures)
                    if (failure) std::rethrow_exception(failure);
                  expect(interruptions > 100, "signals came");
                },
                {.timeout = long_tests() ? 600s : 120s});
  EXPECT_EQ(code, 0) << "seed " << seed;
}

}  // namespace
}  // namespace parley::testing
