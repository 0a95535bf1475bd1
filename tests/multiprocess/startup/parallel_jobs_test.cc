// Many jobs that start on one host at the same time, and ranks that start in any order.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

// Three worlds one after the other, in each of which everybody hears the number of its own job alone. All
// jobs have one secret, so that it is not what keeps them apart.
int run_job(int job, const std::string& address) {
  return run_ranks(3,
                   [&](int rank, int count) {
                     setenv("PARLEY_SECRET", "of all jobs of this user", 1);
                     for (int round = 0; round < 3; ++round) {
                       ProcessGroup world = join(address, rank, count);
                       expect_equal(world.size(), count, "size");
                       for (int other = 0; other < count; ++other) {
                         if (other == rank) continue;
                         int heard = -1;
                         world.sendrecv(std::span(&job, 1), other, std::span(&heard, 1), other);
                         expect_equal(heard, job, "job of rank " + std::to_string(other));
                       }
                       world.barrier();
                     }
                   },
                   {.timeout = 300s});
}

TEST(Jobs, SideBySideNeverMeet) {
  const std::size_t jobs = long_tests() ? 100 : 10;
  std::set<std::string> addresses;
  while (addresses.size() < jobs) addresses.insert(free_address());
  std::vector<pid_t> processes;
  for (const std::string& address : addresses) {
    const pid_t process = fork();
    ASSERT_GE(process, 0);
    if (process == 0) _exit(run_job(static_cast<int>(processes.size()), address));
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = -1;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
}

using Clock = std::chrono::steady_clock;  // the same in all processes of a host

// Who serves the store. The launcher's is there before any rank is; rank 0's may come last.
enum class Server { launcher, rank_0 };

// Ranks that start at random moments join as soon as the last one is there.
void start_at_random(std::uint64_t seed, std::chrono::milliseconds within, Server server) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string address = server == Server::rank_0 ? free_address() : "";
  const SharedPage<std::atomic<Clock::rep>> last_start;
  const int code =
      run_ranks(4,
                [&](int rank, int count) {
                  std::mt19937_64 random(seed * 8 + static_cast<std::uint64_t>(rank));
                  std::this_thread::sleep_for(within * static_cast<int>(random() % 1000) / 1000);
                  const Clock::rep now = Clock::now().time_since_epoch().count();
                  Clock::rep last = *last_start;
                  while (last < now && !last_start->compare_exchange_weak(last, now)) continue;
                  ProcessGroup world = address.empty() ? init() : join(address, rank, count);
                  const auto joined = Clock::now().time_since_epoch() - Clock::duration(last_start->load());
                  // The promise is a second; a busy machine gets more.
                  expect(joined < (long_tests() ? 1s : 20s) * slowness(), "joined soon after the last start");
                  expect_equal(world.size(), count, "size");
                  world.barrier();
                },
                {.timeout = 120s});
  EXPECT_EQ(code, 0);
}

TEST(StartOrder, IsAny) {
  const int runs = long_tests() ? 50 : 4;
  for (int run = 0; run < runs && !HasFailure(); ++run)
    start_at_random(static_cast<std::uint64_t>(run) + 1, long_tests() ? 20s : 1s,
                    run % 2 == 0 ? Server::launcher : Server::rank_0);
}

// The others have dialled in vain for a while, at ever longer intervals.
TEST(StartOrder, MayPutTheServerOfTheStoreLast) {
  const std::string address = free_address();
  const SharedPage<std::atomic<int>> started;
  const int code = run_ranks(3,
                             [&](int rank, int count) {
                               ++*started;
                               if (rank == 0) {
                                 await([&] { return *started == count; }, "the other ranks");
                                 std::this_thread::sleep_for(2s);  // of vain dialling
                               }
                               const auto begin = Clock::now();
                               ProcessGroup world = join(address, rank, count);
                               if (rank == 0)
                                 expect(Clock::now() - begin < (long_tests() ? 1s : 20s) * slowness(),
                                        "joined soon after rank 0");
                               world.barrier();
                             },
                             {.timeout = 120s});
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
