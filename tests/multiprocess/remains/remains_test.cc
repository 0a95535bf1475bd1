// kill -9 of a whole job, again and again: nothing of its shared memory, its files and its descriptors stays.

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
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/contract/store/temporary_folder.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/flatness.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_memory.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/multiprocess/support/side_process.h"
#include "tests/sanitizer.h"
#include "tests/unit/shm/refuse_calls.h"
#include "transport/shm/window.h"

namespace parley::testing {
namespace {

using transport::shm::testing::refuse_calls;
using transport::shm::testing::refused_memfd;
using transport::shm::testing::refused_unnamed_file;

constexpr int ranks = 3;
// Where each rank has a core, and where they share them.
constexpr std::size_t window_bytes = transport::shm::WindowPlan{}.bytes;
constexpr std::size_t small_window_bytes = transport::shm::shared_core_window_bytes;

struct Stage {
  std::array<std::atomic<pid_t>, ranks> busy;  // process of each rank that is in traffic
};

// What a job is about when it is killed. But for those killed at any time each rank maps shared tensors of
// the others.
enum class Killed : std::uint8_t {
  pulling,        // large messages are read across
  in_windows,     // large messages go through leased windows
  without_memfd,  // as the first, and memory comes from unnamed files in /dev/shm
  at_any_time,    // while it starts, or somewhat later
  in_files,       // the same, and memory comes from files that lose their names as soon as they are made
};
constexpr std::size_t kinds = 5;

bool is_early(Killed killed) {
  return killed == Killed::at_any_time || killed == Killed::in_files;
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// Of files that a segment may have had for a moment; others of the machine's come and go in /tmp.
std::set<std::string> segment_names_in(const std::string& folder) {
  constexpr std::string_view beginning = "parley-", chosen = "XXXXXX";
  std::set<std::string> names = names_in(folder);
  std::erase_if(names, [&](const std::string& name) {
    return !name.starts_with(beginning) || name.size() != beginning.size() + chosen.size();
  });
  return names;
}

// Open files of all processes of the machine, and on their way between them.
std::size_t files_of_the_machine() {
  std::size_t files = 0;
  std::ifstream("/proc/sys/fs/file-nr") >> files;
  return files;
}
// Private and shared ones to everybody at once, each of which the receiver pulls if it can.
void exchange(ProcessGroup& world, const Tensor& out, const Tensor& shared, std::vector<Tensor>& in) {
  std::vector<Work> works;
  for (int other = 0; other < ranks; ++other) {
    if (other == world.rank()) continue;
    for (int tag = 0; tag < 2; ++tag) {
      works.push_back(world.irecv(in[static_cast<std::size_t>(2 * other + tag)], other, {.tag = tag}));
      works.push_back(world.isend(tag == 0 ? out : shared, other, {.tag = tag}));
    }
  }
  wait_all(works);
}

bool is_staged(const ProcessGroup& world, Killed killed) {
  std::size_t mapped = 0;
  const std::string links = world.describe(), both = "; it reads our arena; we read its arena";
  for (std::size_t at = links.find(both); at != std::string::npos; at = links.find(both, at + 1)) ++mapped;
  return mapped == ranks - 1 &&
         (killed != Killed::in_windows || segments_mapped_by(getpid(), window_bytes) > 1 ||
          segments_mapped_by(getpid(), small_window_bytes) > 1);
}

// Without an end, and known to the stage once everything is in use that it shall be killed with.
[[noreturn]] void run_rank(Stage& stage, Killed killed) {
  ProcessGroup world = init();
  constexpr std::int64_t elements = 3 << 20;  // no window has as many bytes, nor has a segment of the arena
  const Tensor out = Tensor::ones(elements), shared = world.shared_tensor(elements);
  shared.fill(world.rank());
  std::vector<Tensor> in;
  for (int i = 0; i < 2 * ranks; ++i) in.push_back(Tensor::empty(elements));
  for (bool was_staged = false;;) {
    exchange(world, out, shared, in);
    if (was_staged || !is_staged(world, killed)) continue;
    was_staged = true;
    stage.busy[static_cast<std::size_t>(world.rank())] = getpid();
  }
}

void run_job(Stage& stage, Killed killed, const std::string& folder) {
  // What dies here says so at length.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
  ::setenv("TMPDIR", folder.c_str(), 1);
  if (killed == Killed::without_memfd) refuse_calls({refused_memfd(EPERM)});
  if (killed == Killed::in_files) refuse_calls({refused_memfd(EPERM), refused_unnamed_file()});
  const bool may_pull = killed != Killed::in_windows;
  static_cast<void>(run_ranks(ranks, [&](int, int) { run_rank(stage, killed); },
                              {.environment = {{"PARLEY_TRANSPORTS", may_pull ? "shm" : "shm,^cma"}}}));
}

// All that the job has left to us, its subreaper.
void wait_for_the_end_of_all() {
  while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) continue;
}

// By the launcher, whose guardian kills the ranks, or the ranks first. Returns by how much shared memory had
// grown while it ran.
std::size_t kill_a_job(Random& random, Killed killed, const std::string& folder) {
  const SharedPage<Stage> stage;
  const std::size_t before = shared_memory_of_the_machine();
  std::size_t meanwhile = 0;
  {
    const SideProcess launcher([&] { run_job(*stage, killed, folder); });
    if (!is_early(killed))
      for (const auto& pid : stage->busy) await([&] { return pid != 0; }, "a rank in traffic");
    const std::size_t most_us = is_early(killed) ? 50'000 * static_cast<std::size_t>(slowness()) : 5'000;
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(most_us)));
    meanwhile = shared_memory_of_the_machine();
    if (random.below(2) == 0)
      for (const auto& pid : stage->busy)
        if (pid != 0) kill(pid, SIGKILL);
  }
  wait_for_the_end_of_all();
  return meanwhile - std::min(before, meanwhile);
}

template <typename Condition>
bool comes_to_hold(const Condition& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

TEST(KilledJob, LeavesNoSharedMemoryAndNoDescriptor) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  constexpr std::uint64_t seed = 20'261'121;
  Random random(seed);
  const int jobs = long_tests() ? 500 : sanitizer::is_on ? 15 : 50;
  const test::TemporaryFolder folder;
  kill_a_job(random, Killed::pulling, folder.path());  // what this process keeps, it has from here on
  const std::size_t descriptors = descriptors_of(getpid());
  const std::size_t memory = shared_memory_of_the_machine();
  const std::size_t files = files_of_the_machine();
  const std::set<std::string> names = names_in("/dev/shm"), names_in_tmp = segment_names_in("/tmp");
  std::array<std::size_t, kinds> grown{};  // at most, while a job of each kind ran
  for (int i = 0; i < jobs; ++i) {
    const auto kind = static_cast<std::size_t>(i) % grown.size();
    grown[kind] = std::max(grown[kind], kill_a_job(random, static_cast<Killed>(kind), folder.path()));
  }
  std::printf(
      "%d jobs of up to %zu, %zu, %zu KiB; shared memory: %zu KiB before, %zu KiB after; files: %zu, %zu\n",
      jobs, grown[0] / 1024, grown[1] / 1024, grown[2] / 1024, memory / 1024,
      shared_memory_of_the_machine() / 1024, files, files_of_the_machine());
  constexpr std::size_t arenas = ranks * (12U << 20);
  EXPECT_GE(grown[0], arenas);
  EXPECT_GE(grown[1], arenas + ranks * small_window_bytes);

  // The machine has other users of shared memory; one ring that every job left would be more.
  constexpr std::size_t tolerated = 1U << 20;
  EXPECT_TRUE(comes_to_hold([&] { return shared_memory_of_the_machine() <= memory + tolerated; }))
      << shared_memory_of_the_machine();
  // So it has of open files. A link that a job left would be its socket, two rings, a bell and its event.
  const std::size_t tolerated_files = 4 * static_cast<std::size_t>(jobs);
  EXPECT_TRUE(comes_to_hold([&] { return files_of_the_machine() <= files + tolerated_files; }))
      << files_of_the_machine() << " open files, before " << files;
  EXPECT_EQ(names_in("/dev/shm"), names);
  EXPECT_TRUE(comes_to_hold([&] { return segment_names_in("/tmp") == names_in_tmp; }));
  EXPECT_EQ(descriptors_of(getpid()), descriptors);
  // Killed between making it and taking its name, a process leaves a file, and it is empty.
  for (const std::string& name : names_in(folder.path()))
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() + '/' + name)) << name;
}

}  // namespace
}  // namespace parley::testing
