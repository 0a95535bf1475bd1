// Descriptors and threads: none is inherited by programs that are started, none is left over.

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <parley/parley.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

// The numbers in a folder of /proc, without the descriptor that reads it.
std::set<int> numbers_in(const char* folder) {
  struct Close {
    void operator()(DIR* open) const { closedir(open); }
  };
  const std::unique_ptr<DIR, Close> open(opendir(folder));
  expect(open != nullptr, std::string("can read ") + folder);
  std::set<int> numbers;
  while (const dirent* entry = readdir(open.get()))
    if (entry->d_name[0] != '.') numbers.insert(std::atoi(entry->d_name));
  if (folder == std::string("/proc/self/fd")) numbers.erase(dirfd(open.get()));
  return numbers;
}

std::set<int> descriptors() {
  return numbers_in("/proc/self/fd");
}

std::size_t threads() {
  return numbers_in("/proc/self/task").size();
}

// A thread that was joined leaves /proc a moment later.
void expect_threads_become(std::size_t count) {
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (threads() != count && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  expect_equal(threads(), count, "threads");
}

void exchange(ProcessGroup& world) {
  const int above = (world.rank() + 1) % world.size();
  const int below = (world.rank() + world.size() - 1) % world.size();
  std::vector<int> out(100'000), in(out.size());
  world.sendrecv(out, above, in, below);
  std::vector<Work> works;  // the background thread starts
  works.push_back(world.irecv(in, below));
  works.push_back(world.isend(out, above));
  wait_all(works);
}

TEST(Resources, EveryDescriptorIsClosedOnExec) {
  const int code = run_ranks(3, [](int, int) {
    const std::set<int> before = descriptors();
    ProcessGroup world = init();
    exchange(world);
    std::size_t added = 0;
    for (const int fd : descriptors()) {
      if (before.contains(fd)) continue;
      ++added;
      expect((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "descriptor " + std::to_string(fd) + " has O_CLOEXEC");
    }
    expect(added >= 3, "descriptors were looked at");
  });
  EXPECT_EQ(code, 0);
}

TEST(Resources, DescriptorsAndThreadsReturnToWhatTheyWere) {
  const int code = run_ranks(3, [](int, int) {
    const std::set<int> before = descriptors();
    const std::size_t threads_before = threads();
    for (int round = 0; round < 10; ++round) {
      {
        ProcessGroup world = init();
        exchange(world);
        destroy();
      }
      expect_equal(descriptors().size(), before.size(), "descriptors after round " + std::to_string(round));
      expect(descriptors() == before, "the same descriptors");
      expect_threads_become(threads_before);
    }
  });
  EXPECT_EQ(code, 0);
}

TEST(Resources, AFailedInitLeavesNothing) {
  const int code = run_ranks(1, [](int, int) {
    setenv("WORLD_SIZE", "2", 1);  // the other one never comes
    const std::set<int> before = descriptors();
    const std::size_t threads_before = threads();
    for (int round = 0; round < 3; ++round) {
      InitOptions options;
      options.init_timeout = 300ms;
      expect_throws<InitError>([&] { init(options); });
      expect(descriptors() == before, "the same descriptors");
      expect_threads_become(threads_before);
    }
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
