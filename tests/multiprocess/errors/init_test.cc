// All ways to begin and to end.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

// Every rank hears from every other, and all are on this host.
void expect_works(ProcessGroup& world) {
  expect_equal(world.local_rank(), world.rank(), "local rank");
  for (int other = 0; other < world.size(); ++other) {
    int got = -1;
    const int own = world.rank();
    world.sendrecv(std::span(&own, 1), other, std::span(&got, 1), other);
    expect_equal(got, other, "a rank's number");
  }
}

TEST(Init, TwiceIsAClearError) {
  const int code = run_ranks(2, [](int, int) {
    expect(!is_initialized(), "no world at first");
    ProcessGroup world = init();
    expect(is_initialized(), "a world");
    expect_contains(expect_throws<UsageError>([] { init(); }).what(), "twice");
    expect_works(world);
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, WorksAgainAfterDestroy) {
  const int code = run_ranks(2, [](int rank, int) {
    for (int round = 0; round < 20; ++round) {
      ProcessGroup world = init();
      expect_works(world);
      if (round % 2 == 0) {
        destroy();
        expect(!is_initialized(), "no world after destroy()");
        expect_throws<UsageError>([&] { world.send(1, 1 - rank); });
        destroy();  // does nothing
      }             // else the last handle does it
    }
    expect(!is_initialized(), "no world at the end");
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, NamesEachMissingVariable) {
  const int code = run_ranks(1, [](int, int) {
    const char* names[] = {"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"};
    for (const char* name : names) {
      const std::string value = std::getenv(name);
      unsetenv(name);
      const auto error = expect_throws<UsageError>([] { init(); });
      expect_contains(error.what(), std::string("not set: ") + name);
      setenv(name, value.c_str(), 1);
    }
    unsetenv("MASTER_PORT");
    unsetenv("RANK");
    expect_contains(expect_throws<UsageError>([] { init(); }).what(), "not set: MASTER_PORT, RANK");
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, WithoutAnEnvironmentIsAWorldOfOne) {
  const int code = run_ranks(2, [](int, int) {
    forget_environment();
    ProcessGroup world = init();
    expect_equal(world.size(), 1, "size");
    expect_equal(world.rank(), 0, "rank");
    world.barrier();
    expect_works(world);
    std::vector<std::uint8_t> out(3'000'000, 7), in(out.size());
    expect_equal(world.sendrecv(out, 0, in, any_source).bytes, out.size(), "bytes");
    expect(in == out, "content");
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, ByAnAddressThatRank0Serves) {
  const std::string address = free_address();
  const int code = run_ranks(3, [&](int rank, int count) {
    forget_environment();
    for (int round = 0; round < 2; ++round) {
      ProcessGroup world = join(address, rank, count);
      expect_equal(world.rank(), rank, "rank");
      expect_works(world);
      world.barrier();
      if (round == 1) break;
      destroy();
    }
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, WithAGivenStore) {
  const int code = run_ranks(3, [](int rank, int count) {
    TcpStoreOptions place;
    place.host = std::getenv("MASTER_ADDR");
    place.port = static_cast<std::uint16_t>(std::stoi(std::getenv("MASTER_PORT")));
    place.secret = std::getenv("PARLEY_SECRET");
    forget_environment();
    InitOptions options;
    options.store = connect_tcp_store(place);
    expect_throws<UsageError>([&] { init(options); });  // who are we?
    options.rank = rank;
    options.world_size = count;
    for (int round = 0; round < 2; ++round) {
      ProcessGroup world = init(options);
      expect_works(world);
      world.barrier();
    }
    options.store->set_string("afterwards/" + std::to_string(rank), "the store is still ours");
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, AWrongSecretIsRefusedAtOnceAndTheMissingRankNamed) {
  const int code = run_ranks(3, [](int rank, int) {
    InitOptions options;
    options.init_timeout = 60s;
    const auto begin = std::chrono::steady_clock::now();
    if (rank == 1) {
      options.secret = "not the job's";
      expect_contains(expect_throws<StoreError>([&] { init(options); }).what(), "secret");
      expect(std::chrono::steady_clock::now() - begin < 30s, "refused long before the timeout");
    } else {
      options.init_timeout = 2s;
      const auto error = expect_throws<InitError>([&] { init(options); });
      expect_contains(error.what(), "missing ranks: 1; joined: 0, 2");
    }
    expect(!is_initialized(), "no world");
  });
  EXPECT_EQ(code, 0);
}

// The store of rank 0 stays until the others have left, and their links outlive their use of it.
TEST(Init, Rank0MayLeaveFirst) {
  const std::string address = free_address();
  const int code = run_ranks(3, [&](int rank, int count) {
    forget_environment();
    ProcessGroup world =
        init(address + "?rank=" + std::to_string(rank) + "&world_size=" + std::to_string(count));
    if (rank == 0) return;
    const auto error = expect_throws<PeerLeftError>([&] { world.recv<int>(0); });
    expect_equal(error.details().culprit, 0, "culprit");
    int got = -1;
    world.sendrecv(std::span(&rank, 1), 3 - rank, std::span(&got, 1), 3 - rank);
    expect_equal(got, 3 - rank, "the others go on");
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
