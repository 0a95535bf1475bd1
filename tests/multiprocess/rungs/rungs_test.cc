// Ranks of one host that containers keep apart: every job works, by the best way that is left.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "tests/multiprocess/rungs/elsewhere.h"
#include "tests/multiprocess/support/log_lines.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/unit/shm/refuse_calls.h"

namespace parley::testing {
namespace {

using transport::shm::testing::refuse_calls;
using transport::shm::testing::refused_memfd;
using transport::shm::testing::refused_unnamed_file;

const RanksOptions with_shm{.environment = {{"PARLEY_TRANSPORTS", "shm,tcp"}}};

// Both ways, small and large, every byte.
void exchange(ProcessGroup& world) {
  const int other = 1 - world.rank();
  for (const std::size_t bytes : {0UL, 8UL, 5'000UL, 70'000UL, 3'000'000UL}) {
    const auto content = [&](int from) {
      std::vector<std::uint8_t> made(bytes);
      for (std::size_t i = 0; i < bytes; ++i)
        made[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + static_cast<std::size_t>(from));
      return made;
    };
    std::vector<std::uint8_t> in(bytes);
    const auto out = content(world.rank());
    world.sendrecv(out, other, in, other);
    expect(in == content(other), "content of " + std::to_string(bytes) + " bytes");
  }
}

void expect_link(const std::string& transport, const std::string& why) {
  ProcessGroup world = init();
  exchange(world);
  expect_contains(world.describe(), "): " + transport);
  if (world.rank() == 1) expect_contains(world.describe() + '\n', why);
  world.barrier();
}

// A job of two in which rank 1 is elsewhere. The link of both is by `transport`.
void expect_linked(const std::string& transport, const std::string& why,
                   const std::function<void()>& go_elsewhere,
                   const std::function<void()>& go_elsewhere_as_rank_0 = {}) {
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        if (rank == 1) go_elsewhere();
        if (rank == 0 && go_elsewhere_as_rank_0) go_elsewhere_as_rank_0();
        expect_link(transport, why);
      },
      with_shm);
  EXPECT_EQ(code, 0);
}

constexpr const char* with_cma = ", cma\n";

TEST(Rungs, AnotherUserIsLinkedByTcp) {
  expect_linked("tcp", "(no shm: its process is one of user " + std::to_string(getuid()) + ", ours of ",
                become_another_user);
}

// Rank 1 is this program once more: the kernel lets only a process of one thread enter a user namespace, and
// ThreadSanitizer has a thread of its own.
TEST(Rungs, AUserNamespaceSharesMemory) {
  // It may look at nobody outside, while the namespace's owner may look in.
  const std::string why = ", cma one way: we cannot read its memory: not permitted\n";
  if (is_restarted()) return expect_link("shm", why);
  expect_linked("shm", why, [] { restart_in_user_namespace("Rungs.AUserNamespaceSharesMemory"); });
}

TEST(Rungs, AMountNamespaceSharesMemory) {
  expect_linked("shm", with_cma, enter_mount_namespace);
}

TEST(Rungs, WithoutMemfdThereIsDevShm) {
  const auto refuse = [] { refuse_calls({refused_memfd(ENOSYS)}); };
  expect_linked("shm", with_cma, refuse, refuse);
}

// It has room for the rings and for no window, and no other folder has: large messages go through the rings.
TEST(Rungs, ATinyDevShmDoesNoHarm) {
  const int code = run_ranks(
      2,
      [](int, int) {
        limit_folders({"/dev/shm", "/tmp"}, 256UL << 10);
        unsetenv("TMPDIR");
        refuse_calls({refused_memfd(EPERM)});
        LogLines log;
        set_log_level(LogLevel::info);
        expect_link("shm", "no cma: PARLEY_TRANSPORTS forbids it");
        const auto said = log.with("large messages go through the rings: ");
        expect(said.size() == 1, "a window does not fit");
        expect(log.with("shared memory lies in /dev/shm: ").size() == 1, "the rings fit");
        expect_contains(said[0].message, "unnamed file in /dev/shm: fallocate: No space left on device");
      },
      {.environment = {{"PARLEY_TRANSPORTS", "shm,^cma"}}});
  EXPECT_EQ(code, 0);
}

TEST(Rungs, WithoutMemfdAndWithoutDevShmThereAreOtherFolders) {
  const auto refuse = [] {
    limit_folders({"/dev/shm"}, 0);
    refuse_calls({refused_memfd(EPERM)});
  };
  expect_linked("shm", with_cma, refuse, refuse);
}

TEST(Rungs, WhereNoMemoryCanBeHadThereIsTcp) {
  const auto refuse = [] {
    refuse_calls({refused_memfd(EPERM), refused_unnamed_file(), transport::shm::testing::refused_new_file()});
  };
  expect_linked("tcp", "no shm: no memory can be shared between processes: ", refuse);
}

// Rank 0 does `first` before it begins.
void run_in_two_pid_namespaces(const std::function<void(ProcessGroup&)>& rank_main, int expected,
                               const std::function<void()>& first = {}) {
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        const auto rest = [&] {
          ProcessGroup world = init();
          exchange(world);
          // From the outer namespace the inner one is seen.
          const std::string whose = rank == 0 ? "it cannot read our memory" : "we cannot read its memory";
          expect_contains(world.describe() + '\n',
                          "): shm, cma one way: " + whose + ": another pid namespace\n");
          world.barrier();
          rank_main(world);
        };
        if (rank == 1) run_in_pid_namespace(rest);
        if (first) first();
        rest();
      },
      with_shm);
  EXPECT_EQ(code, expected);
}

TEST(Rungs, APidNamespaceSharesMemory) {
  run_in_two_pid_namespaces([](ProcessGroup& world) { world.barrier(); }, 0);
}

TEST(Rungs, APidNamespaceReadsTheArena) {
  run_in_two_pid_namespaces(
      [](ProcessGroup& world) {
        const int other = 1 - world.rank();
        const Tensor out = world.shared_tensor(100'000), in = Tensor::empty(100'000);
        const std::string mapped = "another pid namespace; it reads our arena; we read its arena";
        int is_mapped = 0;
        for (int i = 0; i < 1000; ++i) {
          out.fill(world.rank() + 10 * i);
          world.sendrecv(out, other, in, other);
          for (const std::int64_t at : {0, 77'777, 99'999})
            expect_equal(in.select(0, at).item(), other + 10.0 * i, "element " + std::to_string(at));
          // Once more after both have mapped the other's.
          const bool was_mapped = is_mapped == 1;
          is_mapped = world.describe().find(mapped) != std::string::npos ? 1 : 0;
          if (world.sendrecv(was_mapped ? 1 : 0, other, other) == 1 && was_mapped) return;
        }
        throw Unexpected(world.describe());
      },
      0);
}

bool has_a_pidfd() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the descriptor of this very look
    if (std::filesystem::read_symlink(entry, gone).string().find("pidfd") != std::string::npos) return true;
  }
  return false;
}

// By the end of its socket. The survivor is in the outer namespace, where the kernel would give it a pidfd of
// the other: that is refused. What it finds is told apart, for spawn() tells of the first that ends.
TEST(Rungs, ADeathInAnotherPidNamespaceIsSeenWithoutAPidfd) {
  const SharedPage<std::atomic<bool>> seen;
  run_in_two_pid_namespaces(
      [&](ProcessGroup& world) {
        if (world.rank() == 1) {
          (void)world.recv<int>(0);
          kill(getpid(), SIGKILL);
        }
        std::signal(SIGTERM, SIG_IGN);  // spawn() ends the survivor as soon as the other is gone
        expect(!has_a_pidfd(), "no pidfd was had");
        world.send(0, 1);
        const auto error = expect_throws<PeerDiedError>([&] { world.recv<int>(1); });
        expect_equal(error.details().culprit, 1, "who died");
        *seen = true;
      },
      killed_exit_code, [] { refuse_calls(transport::shm::testing::refused_pidfds()); });
  EXPECT_TRUE(*seen);
}

}  // namespace
}  // namespace parley::testing
