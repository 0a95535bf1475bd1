// What a process that waits takes of the cores: CPU time of all its threads, the library's own included, and
// never wall time, so that nothing here hangs on how busy the machine is.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/cores.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "transport/base/host.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto long_wait = 2s;
// Of one core. Mostly it is a tenth of that: the look before the sleep, and ten wake-ups a second.
constexpr double most_of_a_core = 0.02;

std::chrono::nanoseconds cpu_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

// `wait` returns after `long_wait`, and this process has done nothing meanwhile.
void expect_idle(const std::string& what, int rank, const std::function<void()>& wait) {
  const auto begun = now();
  const auto spent_before = cpu_time();
  wait();
  const double spent = in_ms(cpu_time() - spent_before);
  const double waited = in_ms(now() - begun);
  std::printf("%s, rank %d: %.2f ms in %.0f ms\n", what.c_str(), rank, spent, waited);
  expect(waited >= in_ms(long_wait) / 2, what + " has not waited");
  expect(spent < most_of_a_core * slowness() * waited,
         what + ": CPU time in ms: " + std::to_string(spent) + " of " + std::to_string(waited));
}

// Messages between all, so that the wait begins as in the middle of a program.
void warm_up(ProcessGroup& world) {
  const int next = (world.rank() + 1) % world.size();
  const int last = (world.rank() + world.size() - 1) % world.size();
  for (int round = 0; round < 200; ++round) {
    Work sent = world.isend(round, next);
    expect_equal(world.recv<int>(last), round, "round");
    sent.wait();
  }
  world.barrier();
}

// Rank 0 is late; what it does meanwhile is its own, so that the other ranks' library is all that runs. It
// sleeps under its library's eyes: nothing that others do may keep that busy either.
void waits_for_rank_0(ProcessGroup& world) {
  warm_up(world);
  const int rank = world.rank();
  const auto sleep = [] { std::this_thread::sleep_for(long_wait); };

  if (rank == 0) {
    expect_idle("sleep while others receive", rank, sleep);
    for (int other = 1; other < world.size(); ++other) world.send(other, other);
  } else {
    expect_idle("recv", rank, [&] { expect_equal(world.recv<int>(0), rank, "value"); });
  }

  if (rank == 0) {
    expect_idle("sleep while others are in a barrier", rank, sleep);
    world.barrier();
  } else {
    expect_idle("barrier", rank, [&] { world.barrier(); });
  }

  if (rank == 0) {
    sleep();
    for (int other = 1; other < world.size(); ++other) world.send(other, other);
  } else {
    int value = 0;
    Work work = world.irecv(value, 0);
    expect_idle("sleep with a receive pending", rank, [] { std::this_thread::sleep_for(long_wait / 2); });
    work.wait();
    expect_equal(value, rank, "value");
  }

  if (rank == 0) {
    sleep();
    for (int other = 1; other < world.size(); ++other) {
      world.send(1, other, {.tag = 1});
      world.send(2, other, {.tag = 2});
    }
  } else {
    expect_idle("two threads in recv", rank, [&] {
      std::thread second([&] { world.recv<int>(0, {.tag = 2}); });
      world.recv<int>(0, {.tag = 1});
      second.join();
    });
  }
  world.barrier();
}

TEST(Idle, AsManyRanksAsCores) {
  const int ranks = std::clamp(static_cast<int>(base::usable_cores().size()), 2, 4);
  EXPECT_EQ(run_ranks(ranks,
                      [](int, int) {
                        ProcessGroup world = init();
                        waits_for_rank_0(world);
                      }),
            0);
}

// These yield before they sleep.
TEST(Idle, FourRanksOnTwoCores) {
  EXPECT_EQ(run_ranks(4,
                      [](int, int) {
                        keep_to_cores(2);
                        ProcessGroup world = init();
                        waits_for_rank_0(world);
                      }),
            0);
}

struct Place {
  std::atomic<int> port{0};
  std::atomic<int> ready{0};
};

// Of the store no transport matters, nor whether there are enough cores: nobody polls there.
TEST(Idle, WaitingForAKey) {
  std::string directory = (std::filesystem::temp_directory_path() / "parley_idle_XXXXXX").string();
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const SharedPage<Place> place;
  const auto wait_for_rank_0 = [&](const std::string& what, Store& store, int rank, int ready) {
    ++place->ready;
    await([&] { return place->ready >= ready; }, "the other rank");
    const std::string key = "late";
    if (rank == 1) return expect_idle(what, rank, [&] { store.wait({&key, 1}); });
    expect_idle("sleep beside a " + what, rank, [] { std::this_thread::sleep_for(long_wait); });
    store.set_string(key, "here");
    await([&] { return place->ready > ready; }, "the other rank's end");
  };
  const int code = run_ranks(2, [&](int rank, int) {
    std::optional<TcpStoreServer> server;
    if (rank == 0) place->port = server.emplace(TcpStoreOptions{}).port();
    await([&] { return place->port != 0; }, "the server");
    TcpStoreOptions options;
    options.port = static_cast<std::uint16_t>(place->port.load());
    const auto tcp = connect_tcp_store(options);
    wait_for_rank_0("TCP store", *tcp, rank, 2);
    ++place->ready;
    const auto file = make_file_store(directory + "/store");
    wait_for_rank_0("file store", *file, rank, 6);
    ++place->ready;
  });
  EXPECT_EQ(code, 0);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace parley::testing
