#include "bench/gate.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "bench/raw_link.h"

namespace parley::bench {
namespace {

// A team of threads; the test machine may have fewer free cores: yield.
class Team {
 public:
  explicit Team(int ranks) : ranks_(ranks) {
    const RawListener listener;
    other_end_ = connect_raw(listener.port());
    link_.emplace(listener.accept(), Idle::yield);
    waiting_.emplace(*link_, Idle::yield);
  }

  void run(const std::function<void(Gate&, int rank)>& life) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks_; ++rank) {
      threads.emplace_back([&, rank] {
        Gate gate(flags_.data(), ranks_, rank, *waiting_);
        life(gate, rank);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  static constexpr std::size_t most_ranks = 4;
  int ranks_;
  base::UniqueFd other_end_;
  std::optional<RawLink> link_;
  std::optional<Waiting> waiting_;
  alignas(Gate::bytes_per_rank) std::array<std::byte, most_ranks * Gate::bytes_per_rank> flags_{};
};

TEST(Gate, TheLeaderGoesOnWhenAllHaveWritten) {
  for (const int ranks : {2, 4}) {
    Team team(ranks);
    std::atomic<int> written = 0;
    std::vector<int> seen;
    team.run([&](Gate& gate, int rank) {
      for (int i = 1; i <= 200; ++i) {
        gate.pass([&] { ++written; });
        if (rank == 0) seen.push_back(written);
        gate.finish();
      }
    });
    for (int i = 1; i <= 200; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i - 1)], i * ranks);
  }
}

TEST(Gate, AllGoOnTogetherWhenAllHaveWritten) {
  for (const int ranks : {2, 4}) {
    Team team(ranks);
    std::atomic<int> written = 0;
    std::atomic<int> early = 0;
    team.run([&](Gate& gate, int rank) {
      for (int i = 1; i <= 200; ++i) {
        gate.pass_together([&] {
          if (rank == ranks - 1) std::this_thread::yield();
          ++written;
        });
        if (written < i * ranks) ++early;
        gate.finish();
      }
    });
    EXPECT_EQ(early, 0) << ranks;
  }
}

TEST(Gate, NobodyWritesBeforeTheLeaderHasCome) {
  Team team(2);
  bool leader_is_busy = false;  // plain: the gate orders what is written before it
  team.run([&](Gate& gate, int rank) {
    for (int i = 0; i < 200; ++i) {
      if (rank == 0) leader_is_busy = false;
      gate.pass([&] {
        if (rank == 0) return;
        EXPECT_FALSE(leader_is_busy);
      });
      if (rank == 0) leader_is_busy = true;
    }
  });
}

TEST(Gate, FinishWaitsForTheLast) {
  Team team(4);
  std::atomic<int> done = 0;
  team.run([&](Gate& gate, int rank) {
    gate.pass([] {});
    if (rank != 0) ++done;
    gate.finish();
    if (rank != 0) return;
    EXPECT_EQ(done, 3);
  });
}

TEST(Gate, AnEmptyExchangeTakesSomeTime) {
  Team team(2);
  double us = -1;
  team.run([&](Gate& gate, int rank) {
    const double mine = gate.empty_us();
    if (rank == 0) us = mine;
  });
  EXPECT_GE(us, 0);
}

}  // namespace
}  // namespace parley::bench
