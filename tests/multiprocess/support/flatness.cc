#include "tests/multiprocess/support/flatness.h"

#include <algorithm>
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

// Of four ranks, each with as many as it may have (transport/shm/window.h).
constexpr std::size_t windows_bytes = std::size_t{4} * 4 * 4 << 20;

// Entries come and go while they are listed.
std::size_t entries_in(const std::string& folder) {
  std::error_code gone;
  std::size_t count = 0;
  std::filesystem::directory_iterator entry(folder, gone);
  for (; !gone && entry != std::filesystem::directory_iterator(); entry.increment(gone)) ++count;
  return count;
}

}  // namespace

Memory memory_of(pid_t pid) {
  std::ifstream file(folder_of(pid) + "statm");
  std::size_t size = 0, resident = 0, shared = 0;
  expect(static_cast<bool>(file >> size >> resident >> shared), "statm");
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return {(resident - std::min(shared, resident)) * page_bytes, shared * page_bytes};
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
  const Memory now = memory_of(pid_);
  // AddressSanitizer keeps up to 256 MiB of freed memory, and the growth of its own tables beside that.
  const std::size_t limit = growth_bytes + (slowness() == 1 ? 0 : std::size_t{384} << 20);
  const auto expect_below = [](std::size_t bytes, std::size_t before, std::size_t growth, const char* whose) {
    expect(bytes < before + growth, std::string(whose) + " memory has grown from " + std::to_string(before) +
                                        " to " + std::to_string(bytes));
  };
  expect_below(now.own, memory_.own, limit, "its own");
  expect_below(now.shared, memory_.shared, growth_bytes + windows_bytes, "shared");
}

void Flatness::report(const char* what) const {
  const Memory now = memory_of(pid_);
  std::printf("%s: %zu descriptors (%zu before), %zu threads (%zu), %zu KiB (%zu), shared %zu KiB (%zu)\n",
              what, descriptors_of(pid_), descriptors_, threads_of(pid_), threads_, now.own / 1024,
              memory_.own / 1024, now.shared / 1024, memory_.shared / 1024);
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
