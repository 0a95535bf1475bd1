// Which transport links two ranks, as PARLEY_TRANSPORTS and the kernel allow.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/multiprocess/support/ranks.h"
#include "tests/unit/shm/refuse_calls.h"

namespace parley::testing {
namespace {

using transport::shm::testing::refuse_calls;
using transport::shm::testing::RefusedCall;

// As some containers do.
void refuse_local_sockets() {
  constexpr unsigned unix_family = 1;  // and no other that is used here has this bit
  refuse_calls({RefusedCall{SYS_socket, EAFNOSUPPORT, RefusedCall::Argument{0, unix_family}}});
}

// Everybody to everybody, small and large.
void exchange(ProcessGroup& world) {
  for (const std::size_t count : {1UL, 1000UL, 1'000'000UL}) {
    std::vector<std::vector<int>> in(static_cast<std::size_t>(world.size()));
    std::vector<Work> works;
    const std::vector<int> out(count, world.rank() + 1);
    for (int other = 0; other < world.size(); ++other) {
      auto& from = in[static_cast<std::size_t>(other)];
      from.assign(count, 0);
      works.push_back(world.irecv(Tensor(from), other));
      works.push_back(world.isend(Tensor(out), other));
    }
    wait_all(works);
    for (int other = 0; other < world.size(); ++other)
      expect(in[static_cast<std::size_t>(other)] == std::vector<int>(count, other + 1),
             "what rank " + std::to_string(other) + " sent");
  }
  world.barrier();
}

int run_with(const std::string& transports, int size, const std::function<void(ProcessGroup&)>& rank_main,
             const std::function<void(int)>& before = {}) {
  const RanksOptions options{.environment = {{"PARLEY_TRANSPORTS", transports}}};
  return run_ranks(
      size,
      [&](int rank, int) {
        if (before) before(rank);
        ProcessGroup world = init();
        exchange(world);
        rank_main(world);
        world.barrier();
      },
      options);
}

TEST(TransportsOfAJob, AreAsTheVariableSays) {
  const auto all_by = [](const std::string& transport) {
    return [transport](ProcessGroup& world) {
      for (const char* other : {"tcp", "shm"}) {
        const bool is_there = world.describe().find(std::string("): ") + other) != std::string::npos;
        expect_equal(is_there, transport == other, other + (" in " + world.describe()));
      }
    };
  };
  EXPECT_EQ(run_with("shm", 3, all_by("shm")), 0);
  EXPECT_EQ(run_with("tcp", 3, all_by("tcp")), 0);
  EXPECT_EQ(run_with("tcp,shm", 3, all_by("shm")), 0) << "the best comes first";
  EXPECT_EQ(run_with("^shm", 3, all_by("tcp")), 0);
}

TEST(TransportsOfAJob, IsSharedMemoryWithoutTheVariable) {
  const auto unset = [](int) { unsetenv("PARLEY_TRANSPORTS"); };
  const auto check = [](ProcessGroup& world) { expect_contains(world.describe(), "): shm"); };
  EXPECT_EQ(run_with("tcp", 2, check, unset), 0);
}

TEST(TransportsOfAJob, ASlipIsRefused) {
  const int code = run_ranks(
      1,
      [](int, int) {
        const auto error = expect_throws<UsageError>([] { init("tcp://127.0.0.1:1?rank=0&world_size=2"); });
        expect_contains(error.what(),
                        "PARLEY_TRANSPORTS=shn: 'shn' is no transport; there are shm and tcp, and ^cma");
      },
      {.environment = {{"PARLEY_TRANSPORTS", "shn"}}});
  EXPECT_EQ(code, 0);
}

// The links of rank 1 are TCP, that of the others is not.
TEST(TransportsOfAJob, ARankWithoutSharedMemoryIsLinkedByTcp) {
  const auto refuse = [](int rank) {
    if (rank == 1) refuse_local_sockets();
  };
  const auto check = [](ProcessGroup& world) {
    const std::string text = world.describe();
    for (int other = 0; other < world.size(); ++other) {
      if (other == world.rank()) continue;
      const bool is_shared = world.rank() != 1 && other != 1;
      const auto line = text.substr(text.find("link to rank " + std::to_string(other)));
      expect_contains(line.substr(0, line.find('\n')), is_shared ? "): shm" : "): tcp ");
    }
    if (world.rank() == 2) expect_contains(text, "(no shm: it offers none)");
  };
  EXPECT_EQ(run_with("shm,tcp", 3, check, refuse), 0);
}

TEST(TransportsOfAJob, WhereNoneIsLeftInitSaysSo) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        if (rank == 1) return;
        refuse_local_sockets();
        const auto error = expect_throws<SystemError>([] { init(); });
        expect_contains(error.what(), "no memory can be shared between processes: ");
        expect_contains(error.what(), "PARLEY_TRANSPORTS=shm allows nothing else");
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
