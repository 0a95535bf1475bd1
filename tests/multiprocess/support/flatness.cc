#include "tests/multiprocess/support/flatness.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

std::string folder_of(pid_t pid) {
  return "/proc/" + std::to_string(pid) + "/";
}

// Entries come and go while they are listed.
std::size_t entries_in(const std::string& folder) {
  std::error_code gone;
  std::size_t count = 0;
  std::filesystem::directory_iterator entry(folder, gone);
  for (; !gone && entry != std::filesystem::directory_iterator(); entry.increment(gone)) ++count;
  return count;
}

}  // namespace

std::size_t memory_of(pid_t pid) {
  std::ifstream file(folder_of(pid) + "statm");
  std::size_t size = 0, resident = 0;
  expect(static_cast<bool>(file >> size >> resident), "statm");
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t descriptors_of(pid_t pid) {
  return entries_in(folder_of(pid) + "fd");
}

std::size_t threads_of(pid_t pid) {
  return entries_in(folder_of(pid) + "task");
}

void Flatness::begin() {
  descriptors_ = descriptors_of(pid_);
  threads_ = threads_of(pid_);
  memory_ = memory_of(pid_);
}

void Flatness::expect_as_before(std::size_t growth_bytes) const {
  await([&] { return descriptors_of(pid_) <= descriptors_; }, "the descriptors return");
  await([&] { return threads_of(pid_) <= threads_; }, "the threads return");
  const std::size_t now = memory_of(pid_);
  // AddressSanitizer keeps up to 256 MiB of freed memory, and the growth of its own tables beside that.
  const std::size_t limit = growth_bytes + (slowness() == 1 ? 0 : std::size_t{384} << 20);
  expect(now < memory_ + limit,
         "memory has grown from " + std::to_string(memory_) + " to " + std::to_string(now));
}

void Flatness::report(const char* what) const {
  std::printf("%s: %zu descriptors (%zu before), %zu threads (%zu), %zu KiB (%zu)\n", what,
              descriptors_of(pid_), descriptors_, threads_of(pid_), threads_, memory_of(pid_) / 1024,
              memory_ / 1024);
  std::fflush(stdout);
}

void reach_limits(ProcessGroup& world) {
  constexpr std::size_t messages = 120;
  constexpr std::int64_t tag = 77;
  constexpr int rounds = 4;  // a window is asked for in one, answered after it, and used in the next
  const std::vector<std::byte> out(std::size_t{40} << 10);
  std::vector<std::byte> in(out.size());
  for (int round = 0; round < rounds; ++round) {
    std::vector<Work> sent;
    for (int peer = 0; peer < world.size(); ++peer)
      for (std::size_t i = 0; peer != world.rank() && i < messages; ++i)
        sent.push_back(world.isend(out, peer, {.tag = tag}));
    world.barrier();
    for (std::size_t i = 0; i < sent.size(); ++i) world.recv(in, any_source, {.tag = tag});
    wait_all(sent);
    world.barrier();
  }
}

}  // namespace parley::testing
