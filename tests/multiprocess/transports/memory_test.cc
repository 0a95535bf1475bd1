// Shared memory of the ranks of one host: what transport/shm/LARGE_MESSAGES.md says of each.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/cores.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_memory.h"
#include "tests/multiprocess/support/shared_page.h"
#include "transport/base/host.h"
#include "transport/shm/window.h"

namespace parley::testing {
namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;
constexpr std::size_t window_bytes = transport::shm::WindowPlan{}.bytes, least_segment_bytes = 4 * mib;
using transport::shm::shared_core_window_bytes;

struct Host {
  std::array<std::atomic<pid_t>, 64> ranks;
};

// Of all ranks together, each segment once.
struct Segments {
  std::size_t windows = 0;  // those where ranks share cores, too
  std::size_t small_windows = 0;
  std::size_t other_bytes = 0;
};
Segments segments_of(const Host& host, int count) {
  std::map<std::uint64_t, std::size_t> all;
  for (int rank = 0; rank < count; ++rank)
    all.merge(segments_mapped_by(host.ranks[static_cast<std::size_t>(rank)]));
  Segments sum;
  for (const auto& [inode, bytes] : all) {
    if (bytes == shared_core_window_bytes) ++sum.small_windows;
    if (bytes == window_bytes || bytes == shared_core_window_bytes)
      ++sum.windows;
    else
      sum.other_bytes += bytes;
  }
  return sum;
}

// The first `count` ranks, each with each.
void exchange(ProcessGroup& world, int count, std::size_t bytes, int times = 1) {
  if (world.rank() >= count) return;
  const std::vector<std::byte> out(bytes);
  std::vector<std::vector<std::byte>> in(static_cast<std::size_t>(count), std::vector<std::byte>(bytes));
  for (int i = 0; i < times; ++i) {
    std::vector<Work> works;
    for (int step = 1; step < count; ++step) {
      const int above = (world.rank() + step) % count, below = (world.rank() + count - step) % count;
      works.push_back(world.irecv(in[static_cast<std::size_t>(below)], below));
      works.push_back(world.isend(out, above));
    }
    wait_all(works);
  }
}

// What rank 0 sees while nobody moves; there it returns the windows. `links_bytes`: of each rank, but for a
// twentieth.
std::size_t look(ProcessGroup& world, const Host& host, std::size_t links_bytes, std::size_t least_windows,
                 std::size_t most_windows) {
  world.barrier();
  std::size_t seen = 0;
  if (world.rank() == 0) {
    const auto [windows, small_windows, other_bytes] = segments_of(host, world.size());
    const std::size_t each = other_bytes / static_cast<std::size_t>(world.size());
    std::printf("%d ranks: %zu KiB for each, and %zu windows together\n", world.size(), each / kib, windows);
    expect(each >= links_bytes - links_bytes / 20 && each <= links_bytes + links_bytes / 20,
           "shared memory of a rank's links: " + std::to_string(each) + " bytes");
    expect(windows >= least_windows && windows <= most_windows, std::to_string(windows) + " windows");
    // Of those that may be either: boards' segments follow, and with cores enough a quota may still be short.
    if (std::ssize(base::usable_cores()) < world.size() && least_windows != most_windows)
      expect(small_windows == windows,
             std::to_string(small_windows) + " small windows of " + std::to_string(windows));
    seen = windows;
  }
  world.barrier();
  return seen;
}

// Of the segment that a rank's first board takes.
std::size_t board_segment_bytes(int count) {
  constexpr std::size_t page = 4 * kib;
  const bool is_large = std::ssize(base::usable_cores()) < count && count <= 8;
  return is_large ? 4 * mib + page : least_segment_bytes;
}

// `busy`: so many ranks then send much to each other. `windows`: the most of each.
void expect_memory(int count, std::size_t links_bytes, int busy, std::size_t windows,
                   bool on_one_core = false) {
  const SharedPage<Host> host;
  const auto busy_ranks = static_cast<std::size_t>(busy);
  const int code = run_ranks(
      count,
      [&](int rank, int) {
        if (on_one_core) keep_to_cores(1);
        ProcessGroup world = init();
        host->ranks[static_cast<std::size_t>(rank)] = getpid();
        exchange(world, count, 8);
        look(world, *host, links_bytes, 0, 0);
        // After 1 MiB in messages that are large for a ring a link asks for a window.
        exchange(world, busy, 32 * kib, 40);
        const std::size_t before = look(world, *host, links_bytes, busy_ranks, busy_ranks * windows);
        // Four calls of the group so far. With the next one each rank has a board, and
        // for that the first segment of its arena, which may be as large as a window.
        const std::size_t segment = board_segment_bytes(count);
        static_assert(least_segment_bytes == window_bytes);
        const bool is_as_a_window = segment == window_bytes;
        const std::size_t more = is_as_a_window ? static_cast<std::size_t>(count) : 0;
        const std::size_t expected = rank == 0 ? before + more : 0;
        look(world, *host, links_bytes + (is_as_a_window ? 0 : segment), expected, expected);
      },
      {.environment = {{"PARLEY_TRANSPORTS", "shm,^cma"}}});
  EXPECT_EQ(code, 0);
}

TEST(MemoryOfARank, OfTwo) {
  expect_memory(2, 52 * kib, 2, 1);
}

TEST(MemoryOfARank, OfTwoOnOneCore) {
  expect_memory(2, 52 * kib, 2, 1, true);
}

TEST(MemoryOfARank, OfEight) {
  expect_memory(8, 340 * kib, 8, 4);
}

TEST(MemoryOfARank, OfSixtyFour) {
  expect_memory(64, 3028 * kib, 8, 4);
}

}  // namespace
}  // namespace parley::testing
