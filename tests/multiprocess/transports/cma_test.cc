// Cross-memory copies between two ranks: who may, who may not, and a sender that dies meanwhile.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/multiprocess/transports/scene.h"
#include "tests/unit/shm/refuse_calls.h"

namespace parley::testing {
namespace {

using transport::shm::testing::refuse_calls;
using transport::shm::testing::RefusedCall;

const RefusedCall refused_reads{.number = SYS_process_vm_readv, .error = EPERM};

// Both ways at once, sizes around the limits and of many pieces.
void exchange_both_ways(ProcessGroup& world) {
  const int other = 1 - world.rank();
  for (const std::size_t count : {10UL, 5000UL, 100'000UL, 600'001UL}) {
    std::vector<int> out(count), in(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<int>(i) * (world.rank() + 3);
    std::vector<Work> works;
    works.push_back(world.irecv(Tensor(in), other));
    works.push_back(world.isend(Tensor(out), other));
    wait_all(works);
    for (std::size_t i = 0; i < count; ++i)
      if (in[i] != static_cast<int>(i) * (other + 3)) throw Unexpected("element " + std::to_string(i));
  }
}

// What the two say of their link, after an exchange.
void expect_links(const std::string& transports, const std::string& of_rank_0, const std::string& of_rank_1,
                  const std::function<void(int)>& before = {}) {
  const RanksOptions options{.environment = {{"PARLEY_TRANSPORTS", transports}}};
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        if (before) before(rank);
        ProcessGroup world = init();
        exchange_both_ways(world);
        expect_contains(world.describe() + "\n", "): shm, " + (rank == 0 ? of_rank_0 : of_rank_1));
        world.barrier();
      },
      options);
  EXPECT_EQ(code, 0);
}

TEST(CrossMemory, IsUsedUnlessItIsForbidden) {
  expect_links("shm", "cma\n", "cma\n");
  const std::string forbidden = "no cma: PARLEY_TRANSPORTS forbids it";
  expect_links("shm,^cma", forbidden, forbidden);
}

TEST(CrossMemory, OneRankThatMayNotReadStillReceives) {
  expect_links("shm", "cma one way: it cannot read our memory: not permitted",
               "cma one way: we cannot read its memory: not permitted", [](int rank) {
                 if (rank == 1) refuse_calls({refused_reads});
               });
}

// The kernel's own rule: nobody reads a process that is not dumpable, but for the almighty.
TEST(CrossMemory, AProcessThatLetsNobodyReadItStillSends) {
  expect_links("shm", "cma one way: it cannot read our memory: not permitted",
               "cma one way: we cannot read its memory: not permitted", [](int rank) {
                 constexpr uid_t nobody = 65534;
                 if (geteuid() == 0) expect(setresuid(nobody, nobody, nobody) == 0, "another user");
                 expect(prctl(PR_SET_DUMPABLE, rank == 0 ? 0 : 1, 0, 0, 0) == 0, "PR_SET_DUMPABLE");
               });
}

// A filter holds for one thread, and another one may pull meanwhile; so it takes some exchanges.
TEST(CrossMemory, APairThatMayNoLongerGoesOnByTheLink) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        exchange_both_ways(world);
        if (rank == 1) refuse_calls({refused_reads});
        constexpr int most_exchanges = 200;
        for (int i = 0; i < most_exchanges; ++i) {
          exchange_both_ways(world);
          const bool is_over =
              world.describe().find("we cannot read its memory: not permitted") != std::string::npos;
          std::vector<int> ends{rank == 1 && (is_over || i + 1 == most_exchanges) ? 1 : 0};
          if (rank == 1) {
            world.send(Tensor(ends), 0);
            if (i + 1 == most_exchanges) expect(is_over, world.describe());
          } else {
            world.recv(Tensor(ends), 1);
          }
          if (ends[0] == 1) break;
        }
        exchange_both_ways(world);
        world.barrier();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

// Killed as soon as the first of its bytes have arrived.
TEST(CrossMemory, ASenderThatIsKilledWhileItIsReadIsNamed) {
  constexpr std::size_t bytes = 128 << 20;
  const SharedPage<Scene> scene;
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        std::signal(SIGTERM, SIG_IGN);  // of spawn(), when the other is gone
        std::vector<unsigned char> data(bytes, rank == 0 ? 1 : 0);
        ProcessGroup world = init();
        if (rank == 0) {
          scene->victim = getpid();
          world.send(Tensor(data), 1);
          world.recv(Tensor(data), 1);  // nothing comes
          return;
        }
        std::thread killer([&] {
          while (peek(data[0]) == 0) std::this_thread::yield();
          kill(scene->victim, SIGKILL);
        });
        try {
          world.recv(Tensor(data), 0);
          const bool is_whole = std::count(data.begin(), data.end(), 1) == static_cast<std::ptrdiff_t>(bytes);
          killer.join();
          expect(is_whole, "a message that was received while its sender died");
          world.recv(Tensor(data), 0);
        } catch (const PeerDiedError& error) {
          scene->was_named = error.details().culprit == 0;
        }
        if (killer.joinable()) killer.join();
      },
      over_shm);
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_TRUE(scene->was_named);
}

}  // namespace
}  // namespace parley::testing
