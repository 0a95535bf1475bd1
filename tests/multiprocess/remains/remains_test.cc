// kill -9 of a whole job, again and again: nothing of its shared memory stays.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/multiprocess/failure/traffic.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/flatness.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/multiprocess/support/side_process.h"

namespace parley::testing {
namespace {

constexpr int ranks = 3;

struct Stage {
  std::array<std::atomic<pid_t>, ranks> busy;  // process of each rank that is in traffic
};

// Bytes of the machine's memory that are shared: all of memfd and /dev/shm.
std::size_t shared_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (std::size_t kib = 0; file >> name >> kib; std::getline(file, unit))
    if (name == "Shmem:") return kib * 1024;
  throw std::runtime_error("no Shmem in /proc/meminfo");
}

std::set<std::string> names_in(const char* folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// Which the next rank maps.
Tensor share_a_tensor(ProcessGroup& world) {
  const Tensor shared = world.shared_tensor(1 << 20), in = Tensor::empty(1 << 20);
  shared.fill(world.rank());
  const int above = (world.rank() + 1) % ranks, below = (world.rank() + ranks - 1) % ranks;
  for (int i = 0; i < 5; ++i) world.sendrecv(shared, above, in, below);
  return shared;
}

void run_job(Stage& stage) {
  // What dies here says so at length.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
  static_cast<void>(run_ranks(ranks,
                              [&](int rank, int) {
                                ProcessGroup world = init();
                                world.barrier();
                                const Tensor shared = share_a_tensor(world);
                                stage.busy[static_cast<std::size_t>(rank)] = getpid();
                                run_traffic(world, Traffic::all_to_all, 1);
                              },
                              {.environment = {{"PARLEY_TRANSPORTS", "shm"}}}));
}

// All that the job has left to us, its subreaper.
void wait_for_the_end_of_all() {
  while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) continue;
}

// By the launcher, whose guardian kills the ranks, or the ranks first. Returns by how much shared memory had
// grown while it ran.
std::size_t kill_a_job(Random& random) {
  const SharedPage<Stage> stage;
  const std::size_t before = shared_memory();
  std::size_t meanwhile = 0;
  {
    const SideProcess launcher([&] { run_job(*stage); });
    for (const auto& pid : stage->busy) await([&] { return pid != 0; }, "a rank in traffic");
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(5'000)));
    meanwhile = shared_memory();
    if (random.below(2) == 0)
      for (const auto& pid : stage->busy) kill(pid, SIGKILL);
  }
  wait_for_the_end_of_all();
  return meanwhile - std::min(before, meanwhile);
}

TEST(KilledJob, LeavesNoSharedMemoryAndNoDescriptor) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  constexpr std::uint64_t seed = 20'261'121;
  Random random(seed);
  const int jobs = long_tests() ? 500 : 50;
  kill_a_job(random);  // what this process keeps, it has from here on
  const std::size_t descriptors = descriptors_of(getpid());
  const std::size_t memory = shared_memory();
  const std::set<std::string> names = names_in("/dev/shm");
  std::size_t most = 0;
  for (int i = 0; i < jobs; ++i) most = std::max(most, kill_a_job(random));
  std::printf("%d jobs of up to %zu KiB; shared memory: %zu KiB before, %zu KiB after\n", jobs, most / 1024,
              memory / 1024, shared_memory() / 1024);
  EXPECT_GT(most, 64U * 1024) << "a job that uses shared memory";

  // The machine has other users of shared memory; one ring that every job left would be more.
  constexpr std::size_t tolerated = 1U << 20;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (shared_memory() > memory + tolerated && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LE(shared_memory(), memory + tolerated);
  EXPECT_EQ(names_in("/dev/shm"), names);
  EXPECT_EQ(descriptors_of(getpid()), descriptors);
}

}  // namespace
}  // namespace parley::testing
