// Ranks that find each other by variables and files, without a launcher's store.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "tests/contract/store/temporary_folder.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/multiprocess/support/side_process.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

void become(const std::map<std::string, std::string>& variables) {
  forget_environment();
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
}

void expect_ring(ProcessGroup world) {
  const int own = world.rank();
  int got = -1;
  const int previous = (own + world.size() - 1) % world.size();
  world.sendrecv(std::span(&own, 1), (own + 1) % world.size(), std::span(&got, 1), previous);
  expect_equal(got, previous, "what came round");
  expect_equal(world.local_rank(), own, "local rank");
  world.barrier();
}

std::string url_of(const std::string& path, int rank, int count) {
  return "file://" + path + "?rank=" + std::to_string(rank) + "&world_size=" + std::to_string(count);
}

std::string port_of(const std::string& address) {
  return address.substr(address.rfind(':') + 1);
}

TEST(Finding, ByAFileAgainAndAgain) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/store";
  const int code = run_ranks(4, [&](int rank, int count) {
    forget_environment();
    for (int round = 0; round < 10; ++round) {
      ProcessGroup world = init(url_of(path, rank, count));
      expect_ring(world);
      expect_contains(world.describe(), "found by file://" + path);
      destroy();
    }
  });
  EXPECT_EQ(code, 0);
  EXPECT_FALSE(std::filesystem::exists(path)) << "the last one removes it";
}

// The ranks of a job that died have left their cards in the file; nobody of the next job believes them.
TEST(Finding, ByAFileThatAKilledJobHasLeft) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/store";
  const auto join_and_die = [&](int rank, int count) {
    std::signal(SIGTERM, SIG_IGN);
    ProcessGroup world = init(url_of(path, rank, count));
    await_return_of_all(world);  // one that outlives the other would remove the file
    kill(getpid(), SIGKILL);
  };
  EXPECT_EQ(run_ranks(2, join_and_die), killed_exit_code);
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(run_ranks(2, [&](int rank, int count) { expect_ring(init(url_of(path, rank, count))); }), 0);
}

TEST(Finding, AMissingRankIsNamedInAFileToo) {
  const test::TemporaryFolder folder;
  const int code = run_ranks(3,
                             [&](int rank, int count) {
                               if (rank == 1) return;
                               const auto error = expect_throws<InitError>(
                                   [&] { init(url_of(folder.path() + "/store", rank, count)); });
                               expect_contains(error.what(), "missing ranks: 1; joined: 0, 2");
                             },
                             {.environment = {{"PARLEY_INIT_TIMEOUT", "2s"}}});
  EXPECT_EQ(code, 0);
}

TEST(Finding, ByVariablesOfOurOwn) {
  const std::string address = free_address();
  const int code = run_ranks(3, [&](int rank, int count) {
    // Another rank than the one in RANK, and another address than MASTER_ADDR: PARLEY_* wins.
    become({{"RANK", "7"},
            {"WORLD_SIZE", "9"},
            {"PARLEY_RANK", std::to_string(rank)},
            {"PARLEY_WORLD_SIZE", std::to_string(count)},
            {"PARLEY_STORE", address}});
    ProcessGroup world = init();
    expect_ring(world);
    expect_contains(world.describe(),
                    "the environment (PARLEY_RANK, PARLEY_WORLD_SIZE); the store by PARLEY_STORE");
  });
  EXPECT_EQ(code, 0);
}

std::map<std::string, std::string> torchrun(int rank, int count, const std::string& port,
                                            const std::string& id) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(count)},
          {"LOCAL_RANK", std::to_string(rank)},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", port},
          {"TORCHELASTIC_RUN_ID", id},
          {"TORCHELASTIC_RESTART_COUNT", "0"},
          {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
}

// A process plays torchrun's agent: it holds MASTER_PORT all the time.
TEST(Finding, UnderTorchrunBesideTheStoreOfItsAgent) {
  const std::string address = free_address();
  const int free_port = std::stoi(address.substr(address.rfind(':') + 1));
  const SharedPage<std::atomic<int>> port;
  const SideProcess agent([&] {
    const TcpStoreServer store(
        {.port = static_cast<std::uint16_t>(free_port), .secret = "that of another program"});
    *port = store.port();
    for (;;) pause();
  });
  const int code = run_ranks(3, [&](int rank, int count) {
    await([&] { return *port != 0; }, "the agent's port");
    become(torchrun(rank, count, std::to_string(*port), "job"));
    ProcessGroup world = init();
    expect_ring(world);
    expect_contains(world.describe(), "torchrun");
  });
  EXPECT_EQ(code, 0);
}

// One user's jobs have one secret, the cookie; a rank that reaches the store of another job is refused at
// once.
TEST(Finding, ARankOfAnotherJobIsRefused) {
  const SharedPage<std::atomic<bool>> refused;
  const std::string port = port_of(free_address());
  const int code = run_ranks(2, [&](int rank, int) {
    become(torchrun(rank, 2, port, rank == 0 ? "ours" : "theirs"));
    const auto begin = now();
    if (rank == 1) {
      expect_contains(expect_throws<StoreError>([] { init(); }).what(), "secret");
      expect(now() - begin < 30s * slowness(), "long before the deadline");
      *refused = true;
    } else {
      const auto error = expect_throws<InitError>([] { init({.init_timeout = 3s * slowness()}); });
      expect_contains(error.what(), "missing ranks: 1; joined: 0");
    }
  });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(*refused);
}

}  // namespace
}  // namespace parley::testing
