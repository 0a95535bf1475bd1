// What describe() says of a rank and its links.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

std::string name_of(int rank, pid_t pid) {
  std::array<char, 256> host{};
  expect(gethostname(host.data(), host.size() - 1) == 0, "gethostname");
  return "rank " + std::to_string(rank) + " (" + host.data() + ", pid " + std::to_string(pid) + ")";
}

TEST(Describe, NamesEveryRankWithHostProcessAndLink) {
  const SharedPage<std::array<std::atomic<pid_t>, 3>> pids;
  const RanksOptions over_tcp{
      .environment = {{"PARLEY_TRANSPORTS", "tcp"}, {"PARLEY_FULL_MESH_LIMIT", "32"}}};
  const int code = run_ranks(
      3,
      [&](int rank, int) {
        (*pids)[static_cast<std::size_t>(rank)] = getpid();
        ProcessGroup world = init();
        world.barrier();
        const std::string text = world.describe();
        expect(text.starts_with(name_of(rank, getpid()) + " of 3, found by "), "the first line of: " + text);
        expect_equal(std::count(text.begin(), text.end(), '\n'), 2, "further lines");
        for (int other = 0; other < 3; ++other) {
          const std::string link =
              "\n  link to " + name_of(other, (*pids)[static_cast<std::size_t>(other)]) + ": ";
          if (other != rank) expect_contains(text, link);
          expect_equal(text.find(link) != std::string::npos, other != rank, "a link to rank " + link);
        }
        expect_contains(text, ": tcp ");
        world.barrier();  // who leaves has no link any more
      },
      over_tcp);
  EXPECT_EQ(code, 0);
}

TEST(Describe, SaysWhoHasLeft) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    if (rank == 1) return;
    const auto says_so = [&] {
      world.progress();
      const std::string text = world.describe();
      return text.find("\n  no link to rank 1 (") != std::string::npos &&
             text.find("): it has left") != std::string::npos;
    };
    await(says_so, "the link to close");
  });
  EXPECT_EQ(code, 0);
}

TEST(Describe, AWorldOfOneHasNoLinks) {
  const int code = run_ranks(1, [](int, int) {
    forget_environment();
    ProcessGroup world = init();
    const std::string text = world.describe();
    expect(text.starts_with(name_of(0, getpid()) + " of 1"), "the text: " + text);
    expect(text.find("link") == std::string::npos, "no link in: " + text);
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
