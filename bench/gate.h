#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "bench/waiting.h"

namespace parley::bench {

// Brings the ranks of a team together before a measured exchange and after it: flags in shared memory, for
// nothing of a measured library may be used in between. Rank 0 of the team leads: it holds the watch. All
// make the same calls in the same order.
//
// 1. Each rank writes its own flag only; it counts what its rank has come to. Whoever does not wait at
// finish()
//    may be one ahead of the leader.
// 2. Stores release and loads acquire, so that whoever waited sees what the other wrote before it came.
class Gate {
 public:
  // Two cache lines for each: cores fetch lines in pairs.
  static constexpr std::size_t bytes_per_rank = 128;

  // `flags`: bytes_per_rank for each rank of the team, zero when new. Borrows both.
  Gate(void* flags, int ranks, int rank, const Waiting& waiting) noexcept
      : flags_(static_cast<Flag*>(flags)), ranks_(ranks), rank_(rank), waiting_(waiting) {}

  // Calls write() on each rank once the leader has come, and returns on the leader after it has returned on
  // all others, which have nothing left to do but the exchange.
  template <typename Write>
  void pass(Write&& write) {
    ++turn_;
    if (rank_ == 0) {
      come();
      write();
      await_others();
    } else {
      await(0);
      write();
      come();
    }
  }

  // The same, but nobody returns before write() has returned on all, the leader first: for exchanges in which
  // a rank has something to do that needs none of those that still write.
  template <typename Write>
  void pass_together(Write&& write) {
    pass(write);
    ++turn_;
    if (rank_ == 0)
      come();
    else
      await(0);
  }

  // Returns on the leader when all have come, on the others at once.
  void finish() {
    ++turn_;
    come();
    if (rank_ == 0) await_others();
  }

  // What the leader measures between pass() and finish() when there is nothing in between: the least of many.
  // All ranks call it.
  double empty_us();

 private:
  struct alignas(bytes_per_rank) Flag {
    std::atomic<std::uint32_t> turn;
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "a lock would not work between processes");

  // release, and acquire below: invariant 2.
  void come() noexcept { flags_[rank_].turn.store(turn_, std::memory_order_release); }
  void await(int rank) const {
    waiting_.until([&] {
      const std::uint32_t ahead = flags_[rank].turn.load(std::memory_order_acquire) - turn_;
      return ahead <= 1;
    });
  }
  void await_others() const {
    for (int rank = 1; rank < ranks_; ++rank) await(rank);
  }

  Flag* flags_;
  int ranks_;
  int rank_;
  const Waiting& waiting_;
  std::uint32_t turn_ = 0;
};

}  // namespace parley::bench
