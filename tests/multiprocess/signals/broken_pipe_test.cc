// Writing to a peer that is gone must not end the process by SIGPIPE, whose default that is.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

constexpr std::uint64_t kill_seed = 99;

// What the survivor does without end, and what the victim does meanwhile.
struct Traffic {
  const char* name;
  std::function<void(ProcessGroup&)> write;
  std::function<void(ProcessGroup&)> read;
};

void receive_one(ProcessGroup& world, std::size_t bytes) {
  static std::vector<std::byte> in(std::size_t{1} << 21);
  world.recv(std::span(in).first(bytes), 0, {.tag = any_tag});
}

const std::array<Traffic, 4> traffics{{
    {"small sends", [](ProcessGroup& world) { world.send(1, 1); },
     [](ProcessGroup& world) { receive_one(world, 8); }},
    {"large sends",
     [](ProcessGroup& world) {
       static const std::vector<std::byte> out(std::size_t{1} << 21);
       world.send(out, 1);
     },
     [](ProcessGroup& world) { receive_one(world, std::size_t{1} << 21); }},
    {"bursts",
     [](ProcessGroup& world) {
       static const std::vector<std::byte> out(20'000);
       std::vector<Work> works;
       for (int i = 0; i < 50; ++i) works.push_back(world.isend(out, 1, {.tag = i}));
       wait_all(works);
     },
     [](ProcessGroup& world) { receive_one(world, 20'000); }},
    // The end of the peer is noticed while the survivor's own thread is elsewhere.
    {"sends to one that does not read",
     [](ProcessGroup& world) {
       static const std::vector<std::byte> out(4000);
       world.isend(out, 1).detach(nullptr);
       std::this_thread::yield();
     },
     [](ProcessGroup&) { std::this_thread::yield(); }},
}};

void run_rank(const Traffic& traffic, int rank, std::chrono::microseconds after, std::atomic<int>& survived) {
  std::signal(SIGTERM, SIG_IGN);  // spawn() asks the survivor to end
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
  set_log_level(LogLevel::error);  // each detached send that fails is a warning
  ProcessGroup world = init();
  barrier_before_death(world, 1);
  if (rank == 1) {
    std::thread([after] {
      std::this_thread::sleep_for(after);
      kill(getpid(), SIGKILL);
    }).detach();
    for (;;) traffic.read(world);
  }
  const auto error = expect_throws<PeerDiedError>([&] {
    for (;;) traffic.write(world);
  });
  expect_equal(error.details().culprit, 1, "culprit");
  expect_throws<PeerDiedError>([&] { traffic.write(world); });
  destroy();
  ++survived;
}

TEST(Signals, SigpipeDoesNotEndTheSurvivorOfAKill) {
  Random random(kill_seed);
  for (const Traffic& traffic : traffics) {
    for (int kill_number = 0; kill_number < (long_tests() ? 50 : 5); ++kill_number) {
      const SharedPage<std::atomic<int>> survived;
      const std::chrono::microseconds after(random.below(20'000));
      const int code = run_ranks(2, [&](int rank, int) { run_rank(traffic, rank, after, *survived); });
      ASSERT_EQ(code, killed_exit_code) << traffic.name << ", seed " << kill_seed;
      ASSERT_EQ(*survived, 1) << traffic.name << ", kill " << kill_number << ", seed " << kill_seed;
    }
  }
}

}  // namespace
}  // namespace parley::testing
