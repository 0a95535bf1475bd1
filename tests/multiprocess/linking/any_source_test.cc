// A receive from any source hears of ranks that were never linked to: of their death, and nothing of those
// who left in good order.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <thread>

#include "tests/multiprocess/rungs/elsewhere.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

constexpr int ranks = 4;
constexpr int victim = 3;
// A receive that hears of nothing ends in TimeoutError instead.
const RecvOptions patient{.timeout = 40s};
// Time for several looks at who is there.
constexpr auto several_looks = 3500ms;

struct Page {
  std::atomic<int> arrived{0};
  std::atomic<int> step{0};
  std::atomic<pid_t> mortal{0};  // who is going to die, for those who have to know that it has
};

// Runs the life of a rank that is killed in a child: spawn() would end the others 5 s after its death.
void run_mortal(const std::function<void()>& life) {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      life();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(1);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  const bool was_killed = (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
                          (WIFEXITED(status) && WEXITSTATUS(status) == killed_exit_code);
  expect(was_killed, "the rank was killed");
}

// What a host may do that keeps its users apart.
void hide_processes_of_others() {
  enter_mount_namespace();
  expect(mount("proc", "/proc", "proc", 0, "hidepid=2") == 0, "/proc is mounted again");
}

// Everybody is here; no link is made.
void meet(Page& page) {
  ++page.arrived;
  await([&] { return page.arrived == ranks; }, "all are here");
}

// Runs a world in which `mortal` is killed.
int with_a_death(const std::function<void(int)>& rank_main, int mortal = victim) {
  return run_ranks(
      ranks,
      [&](int rank, int) {
        if (rank == mortal) return run_mortal([&] { rank_main(rank); });
        rank_main(rank);
      },
      on_demand);
}

// Runs a world in which rank 0 is killed, which serves the store.
int with_the_death_of_the_store(Page& page, const std::function<void(int, ProcessGroup&)>& rank_main) {
  const std::string address = free_address();
  return with_a_death(
      [&](int rank) {
        forget_environment();
        ProcessGroup world = join(address, rank, ranks);
        meet(page);
        rank_main(rank, world);
      },
      0);
}

// Sets the step as soon as there is a link to the rank, while the caller waits for something else.
std::thread announce_link(ProcessGroup& world, int to, Page& page, int step) {
  return std::thread([&world, to, &page, step] {
    const std::string link = "link to rank " + std::to_string(to) + ' ';
    await([&] { return world.describe().find(link) != std::string::npos; }, link, 60s);
    page.step = step;
  });
}

void stay_until(Page& page, int step) {
  await([&] { return page.step >= step; }, "step " + std::to_string(step), 60s);
}

TEST(AnySource, HearsOfTheDeathOfARankThatWasNeverMet) {
  const SharedPage<Page> page;
  const int code = with_a_death([&](int rank) {
    ProcessGroup world = init();
    meet(*page);
    if (rank == victim) die();
    if (rank == 1) {
      stay_until(*page, 1);
      std::this_thread::sleep_for(several_looks);
      world.send(17, 0);
    }
    if (rank != 0) return stay_until(*page, 2);
    const auto pending = expect_throws<PeerDiedError>([&] { world.recv<int>(any_source, patient); });
    expect_equal(pending.details().culprit, victim, "culprit");
    expect_contains(pending.what(), "rank 3 (");
    const auto later = expect_throws<PeerDiedError>([&] { world.recv<int>(any_source, patient); });
    expect_equal(later.details().culprit, victim, "culprit of a later call");
    world.acknowledge_failures();
    page->step = 1;
    // The same death does not end another one, however long it waits.
    expect_equal(world.recv<int>(any_source, patient), 17, "what came after the death");
    page->step = 2;
  });
  EXPECT_EQ(code, 0);
}

// Probes, and receives that nobody waits for.
TEST(AnySource, OfEveryKindHearsOfTheDeath) {
  const SharedPage<Page> page;
  const int code = with_a_death([&](int rank) {
    ProcessGroup world = init();
    meet(*page);
    if (rank == victim) die();
    std::string what;
    if (rank == 0)
      what =
          expect_throws<PeerDiedError>([&] { static_cast<void>(world.probe(any_source, patient)); }).what();
    if (rank == 1) {
      int value = 0;
      Work work = world.irecv(Tensor(std::span(&value, 1)), any_source, patient);
      std::atomic<bool> told{false};
      std::exception_ptr error;
      work.then([&](std::exception_ptr outcome) {
        error = outcome;
        told = true;
      });
      await([&] { return told.load(); }, "the completion function", 60s);
      what = expect_throws<PeerDiedError>([&] { std::rethrow_exception(error); }).what();
    }
    if (rank == 2) {
      const auto end = std::chrono::steady_clock::now() + 60s;
      what = expect_throws<PeerDiedError>([&] {
               while (std::chrono::steady_clock::now() < end) {
                 expect(!world.iprobe(any_source), "nothing was sent");
                 std::this_thread::sleep_for(1ms);
               }
             }).what();
    }
    expect_contains(what, "rank 3 (");
    ++page->step;
    stay_until(*page, ranks - 1);
  });
  EXPECT_EQ(code, 0);
}

// Rank 0 waits for any source while rank 3 leaves in good order and is gone. `live` runs the life of a rank
// where it shall be lived.
void expect_to_go_on(const std::function<void(int, const std::function<void()>&)>& live) {
  const SharedPage<Page> page;
  const int code = run_ranks(
      ranks,
      [&](int rank, int) {
        live(rank, [&, rank] {
          ProcessGroup world = init();
          meet(*page);
          if (rank == victim) {
            destroy();
            page->step = 1;
            return;
          }
          if (rank == 1) {
            stay_until(*page, 1);
            std::this_thread::sleep_for(several_looks);
            world.send(17, 0);
          }
          if (rank != 0) return stay_until(*page, 2);
          expect_equal(world.recv<int>(any_source, patient), 17, "value");
          page->step = 2;
        });
      },
      on_demand);
  EXPECT_EQ(code, 0);
}

TEST(AnySource, DoesNotMindWhoLeftInGoodOrderAndWasNeverMet) {
  expect_to_go_on([](int, const std::function<void()>& rest) { rest(); });
}

// Rank 0 cannot see the processes of the others.
TEST(AnySource, DoesNotMindWhoLeftInGoodOrderElsewhere) {
  expect_to_go_on([](int rank, const std::function<void()>& rest) {
    if (rank == 0) run_in_pid_namespace(rest);
    rest();
  });
}

// Rank 1 is of another user, and /proc shows it none of the others' processes.
TEST(AnySource, DoesNotMindProcessesThatAreHidden) {
  expect_to_go_on([](int rank, const std::function<void()>& rest) {
    if (rank == 1) {
      hide_processes_of_others();
      become_another_user();
    }
    rest();
  });
}

// Ranks 1 and 2, which can see the dead, are not interested.
TEST(AnySource, HearsOfADeathAmongThoseElsewhere) {
  const SharedPage<Page> page;
  const int code = with_a_death([&](int rank) {
    const auto rest = [&] {
      ProcessGroup world = init();
      meet(*page);
      if (rank == victim) die();
      if (rank != 0) return stay_until(*page, 1);
      const auto error = expect_throws<PeerDiedError>([&] { world.recv<int>(any_source, patient); });
      expect_equal(error.details().culprit, victim, "culprit");
      page->step = 1;
    };
    if (rank == 0) run_in_pid_namespace(rest);
    rest();
  });
  EXPECT_EQ(code, 0);
}

// Nobody can see the dead, which is linked to by whoever waits. Rank 1 waits only after the death.
TEST(AnySource, HearsOfTheDeathOfALonelyRankElsewhere) {
  const SharedPage<Page> page;
  const int code = with_a_death([&](int rank) {
    const auto rest = [&] {
      ProcessGroup world = init();
      meet(*page);
      if (rank == victim) {
        stay_until(*page, 1);
        die();
      }
      if (rank == 2) return stay_until(*page, 3);
      std::thread announcer;
      if (rank == 0) announcer = announce_link(world, victim, *page, 1);
      if (rank == 1) stay_until(*page, 2);
      const auto error = expect_throws<PeerDiedError>([&] { world.recv<int>(any_source, patient); });
      if (rank == 0) announcer.join();
      expect_equal(error.details().culprit, victim, "culprit");
      page->step = rank == 0 ? 2 : 3;
      stay_until(*page, 3);
    };
    if (rank == victim) run_in_pid_namespace(rest);
    rest();
  });
  EXPECT_EQ(code, 0);
}

// With rank 0 the store is lost, which could tell a death from a departure. It dies when somebody has waited
// for a while.
TEST(AnySource, HearsOfTheDeathOfTheRankThatServesTheStore) {
  const SharedPage<Page> page;
  const int code = with_the_death_of_the_store(*page, [&](int rank, ProcessGroup& world) {
    if (rank == 0) {
      stay_until(*page, 1);
      die();
    }
    if (rank == 1) {
      std::thread announcer([&] {  // while the receive waits
        std::this_thread::sleep_for(several_looks);
        page->step = 1;
      });
      const auto error = expect_throws<PeerDiedError>([&] { world.recv<int>(any_source, patient); });
      announcer.join();
      expect_equal(error.details().culprit, 0, "culprit");
      page->step = 2;
    }
    stay_until(*page, 2);
  });
  EXPECT_EQ(code, 0);
}

// The address of rank 2 is in the store, which is lost before anybody needed it.
TEST(OnDemandStore, IsNamedWhenItIsLostBeforeALinkIsMade) {
  const SharedPage<Page> page;
  const int code = with_the_death_of_the_store(*page, [&](int rank, ProcessGroup& world) {
    if (rank == 0) {
      page->mortal = getpid();
      die();
    }
    if (rank == 1) {
      await([&] { return page->mortal != 0 && kill(page->mortal, 0) != 0; }, "rank 0 is no more", 60s);
      const auto error = expect_throws<TimeoutError>([&] { world.recv<int>(2, {.timeout = 3s}); });
      expect_contains(error.what(), "its address cannot be read from the store");
      page->step = 1;
    }
    stay_until(*page, 1);
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
