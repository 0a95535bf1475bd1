// What those who do not belong to a running job can do to it: nothing that anybody notices.

#include <gtest/gtest.h>
#include <parley/log.h>
#include <parley/parley.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/multiprocess/strangers/crowd.h"
#include "tests/multiprocess/strangers/process_use.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/flatness.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "transport/socket/dial.h"
#include "transport/socket/listener.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

std::size_t strangers() {
  return long_tests() ? 10'000 : 1'000;
}

std::uint16_t store_port() {
  return static_cast<std::uint16_t>(std::stoi(std::getenv("MASTER_PORT")));
}

double p99_us(std::vector<double>& samples) {
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() * 99 / 100);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

struct Stage {
  std::atomic<bool> ready;
  std::atomic<bool> begun;
  std::atomic<bool> over;
  std::atomic<bool> come;  // strangers shall
  std::atomic<int> port;
  std::atomic<int> pid;
  std::atomic<int> left;
};

constexpr std::size_t strangers_per_second = 500;
constexpr std::size_t strangers_at_once = 10;

// As many as the test has, whenever the stage says so, in small groups at the pace above: on few cores,
// strangers without a pause between them take the time of the job's ranks, as any other program would.
void visit_when_told(std::uint16_t port, Stage& stage) {
  Crowd crowd(port);
  for (std::size_t i = 0; i < strangers(); i += strangers_at_once) {
    const auto next = std::chrono::steady_clock::now() +
                      std::chrono::nanoseconds(1s) * strangers_at_once / strangers_per_second;
    while (!stage.come) std::this_thread::sleep_for(10ms);
    crowd.visit(strangers_at_once);
    std::this_thread::sleep_until(next);
  }
  stage.over = true;
}

// The times of exchanges of rank 0 with rank 1, in us, for a while.
void exchange_for(ProcessGroup& world, std::chrono::nanoseconds time, std::vector<double>& samples) {
  const auto end = now() + time;
  for (auto begin = now(); begin < end;) {
    world.send(1, 1);
    world.recv<int>(1);
    const auto answered = now();
    samples.push_back(in_ms(answered - begin) * 1000);
    begin = answered;
  }
}

// Turn and turn about with and without rank 2's strangers, until all have come: what else this machine does
// meanwhile falls on both alike.
void measure(ProcessGroup& world, Stage& stage) {
  constexpr std::chrono::nanoseconds turn = 250ms;
  std::vector<double> quiet, disturbed;
  await([&] { return stage.ready.load(); }, "rank 2 and the store have all that they keep");
  exchange_for(world, turn, quiet);
  quiet.clear();
  while (!stage.over) {
    exchange_for(world, turn, quiet);
    stage.come = true;
    exchange_for(world, turn, disturbed);
    stage.come = false;
  }
  world.send(0, 1);
  const double change = (p99_us(disturbed) / p99_us(quiet) - 1) * 100;
  std::printf("p99 of an exchange: %.1f us without (%zu) and %.1f us among strangers (%zu): %+.1f %%\n",
              p99_us(quiet), quiet.size(), p99_us(disturbed), disturbed.size(), change);
  std::fflush(stdout);
  if (long_tests()) expect(change < 10, "p99 changes by less than 10 %");
}

// 500 a second come, ten at a time: 10 000 of them with PARLEY_LONG_TESTS=1. The store is kept by the
// test's own process, which counts its lines.
TEST(Strangers, AtTheStoreOfARunningJobChangeNothing) {
  const SharedPage<Stage> stage;
  int lines = 0;
  set_log_level(LogLevel::info);
  set_log_sink([&](const LogRecord& record) {
    if (record.subsystem == "socket") ++lines;
  });
  const auto begin = now();
  const int code = run_ranks(3, [&](int rank, int) {
    ProcessGroup world = init();
    if (rank == 0) {
      measure(world, *stage);
    } else if (rank == 1) {
      while (world.recv<int>(0) != 0) world.send(1, 0);
    } else {
      Crowd(store_port()).visit(100);
      std::this_thread::sleep_for(100ms);  // the store's memory settles
      Flatness store(getppid());
      store.begin();
      stage->ready = true;
      visit_when_told(store_port(), *stage);
      store.expect_as_before();
      store.report("the store");
    }
    world.barrier();
  });
  const double seconds = in_ms(now() - begin) / 1000;
  set_log_sink({});
  set_log_level(LogLevel::warn);
  EXPECT_EQ(code, 0);
  EXPECT_GE(lines, 1);
  EXPECT_LE(lines, seconds + 2) << "more than a line a second";
}

socket::Credentials credentials() {
  socket::Credentials made;
  made.secret = "the secret of the strangers' test";
  return made;
}

// A data listener that stays open, in a process of its own.
void serve(Stage& stage) {
  socket::Reactor reactor;
  socket::ListenerOptions options;
  options.self = 0;
  const socket::Listener listener(reactor, options, credentials(), [](auto&&...) {});
  stage.pid = getpid();
  stage.port = listener.port();
  while (!stage.over) {
    reactor.announce_sleep();
    reactor.sleep(base::Deadline::after(20ms));
  }
}

void expect_let_in(std::uint16_t port) {
  socket::Reactor reactor;
  std::optional<std::string> outcome;
  const auto note = [&](auto result) { outcome = result.ok() ? "let in" : result.failure().message; };
  socket::dial(reactor, {"127.0.0.1", port}, {socket::Purpose::data, 1, 0}, credentials(),
               base::Deadline::after(30s * slowness()), note);
  while (!outcome) {
    reactor.announce_sleep();
    reactor.sleep(base::Deadline::never());
  }
  expect(*outcome == "let in", *outcome);
}

TEST(Strangers, AtADataListenerKeepNobodyOut) {
  const SharedPage<Stage> stage;
  const int code = run_ranks(2, [&](int rank, int) {
    if (rank == 0) return serve(*stage);
    await([&] { return stage->port != 0; }, "the listener");
    const auto port = static_cast<std::uint16_t>(stage->port.load());
    Crowd crowd(port);
    crowd.visit(100);
    expect_let_in(port);
    Flatness listener(stage->pid);
    listener.begin();
    for (std::size_t i = 0; i < strangers(); i += 100) {
      Crowd(port).visit(100);
      expect_let_in(port);
    }
    listener.expect_as_before();
    listener.report("the listener");
    stage->over = true;
  });
  EXPECT_EQ(code, 0);
}

// Lowers the number of descriptors for this process and its children.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t count) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit low = before_;
    low.rlim_cur = count;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

  void lift() const { expect(setrlimit(RLIMIT_NOFILE, &before_) == 0, "the old limit"); }

 private:
  rlimit before_{};
};

TEST(Strangers, UseUpAllDescriptorsAndTheRightOnesStillJoinAndNobodySpins) {
  const SharedPage<Stage> stage;
  const FewDescriptors few(64);
  const int code = run_ranks(3, [&](int rank, int) {
    if (rank == 2) {
      few.lift();
      Flatness store(getppid());
      store.begin();
      std::optional<Crowd> crowd(std::in_place, store_port());
      crowd->linger(200);
      stage->begun = true;
      const auto busy = cpu_time_of(getppid());
      std::this_thread::sleep_for(1s);  // a spinning process would spend this
      const double spent_ms = in_ms(cpu_time_of(getppid()) - busy);
      std::printf("the store spent %.1f ms of a second\n", spent_ms);
      std::fflush(stdout);
      expect(spent_ms < 300 * slowness(), "the store spins");
      await([&] { return stage->left == 2; }, "the job's end");
      crowd.reset();
      store.expect_as_before();
      store.report("the store");
      return;
    }
    await([&] { return stage->begun.load(); }, "the strangers");
    InitOptions options;
    options.world_size = 2;
    options.init_timeout = 30s * slowness();
    ProcessGroup world = init(options);
    Flatness own;
    for (int i = 0; i < 1000; ++i) {
      if (i == 100) own.begin();
      if (rank == 0) world.send(i, 1);
      if (rank == 1) expect_equal(world.recv<int>(0), i, "a message");
    }
    own.expect_as_before();
    world.barrier();
    destroy();
    ++stage->left;
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
