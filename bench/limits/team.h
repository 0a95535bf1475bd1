#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/raw_link.h"
#include "bench/shared_memory.h"
#include "bench/waiting.h"

namespace parley::bench {

// One cache line of one rank, which all others read: how far it has come, and a small value that travels with
// that. Two lines apart, for cores fetch lines in pairs. Zero when new.
struct alignas(128) TeamLine {
  static constexpr std::size_t most_values = 12;

  std::atomic<std::uint32_t> turn;
  std::array<float, most_values> values;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "a lock would not work between processes");

// Another process, and where its buffers lie in it: what cross-memory reads need.
struct TeamMate {
  pid_t process = -1;
  std::uint64_t out = 0;
  std::uint64_t in = 0;
};

// One rank's end of memory that all ranks of a collective share: of each rank lines, stages, and an arena
// with its buffers. The raw loops of collectives are written with it; all use the same one, one after the
// other.
//
// 1. Every rank goes through the same turns. In a turn it may write its own line and stage, then tells that
// it
//    has come so far; nobody writes what is another's.
// 2. Lines and stages are used round: those of turn t again in turn t + rotation. So whoever writes in turn t
//    must know that all have entered turn t - rotation + 1, and with that left turn t - rotation. A rank
//    knows that who has awaited all in the turn before, or has called await_room().
// 3. tell() releases and await() acquires: who has awaited a rank sees what it wrote before it told.
class Team {
 public:
  static constexpr std::uint32_t rotation = 8;
  static constexpr std::size_t stage_bytes = std::size_t{1} << 20;

  // For ranks with buffers of `arena_bytes` each. Whole pages.
  static std::size_t memory_bytes(std::size_t arena_bytes, int ranks) noexcept;

  // Owns its mapping; borrows the link, which tells whether the neighbour lives. `mates`: of all ranks; empty
  // when their memory cannot be read.
  Team(SharedMemory memory, std::size_t arena_bytes, int rank, int ranks, std::vector<TeamMate> mates,
       const RawLink& link, Idle idle);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] const TeamMate& mate(int rank) const noexcept {
    return mates_[static_cast<std::size_t>(rank)];
  }
  void set_idle(Idle idle) noexcept { waiting_.set_idle(idle); }

  // The next turn. The line and the stage of each rank in it; its arena.
  void begin() noexcept { ++turn_; }
  [[nodiscard]] TeamLine& line(int rank) const noexcept { return line_of(rank, turn_); }
  [[nodiscard]] float* stage(int rank) const noexcept {
    return reinterpret_cast<float*>(part(rank) + stages_at + turn_ % rotation * stage_bytes);
  }
  [[nodiscard]] std::byte* arena(int rank) const noexcept { return part(rank) + arena_at; }

  // Invariant 2, where not all have awaited all in the turn before.
  void await_room() const {
    for (int rank = 0; rank < ranks_; ++rank) await(rank, turn_ - rotation + 1);
  }
  // Invariant 3.
  void tell() noexcept { line(rank_).turn.store(turn_, std::memory_order_release); }
  void await(int rank) const { await(rank, turn_); }
  void await_all() const {
    for (int other = 0; other < ranks_; ++other)
      if (other != rank_) await(other);
  }
  // A turn in which nothing is written.
  void meet() {
    begin();
    tell();
    await_all();
  }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t stages_at = page;
  static constexpr std::size_t arena_at = stages_at + rotation * stage_bytes;
  static_assert(rotation * sizeof(TeamLine) <= stages_at);

  [[nodiscard]] std::byte* part(int rank) const noexcept {
    return base_ + static_cast<std::size_t>(rank) * part_bytes_;
  }
  [[nodiscard]] TeamLine& line_of(int rank, std::uint32_t turn) const noexcept {
    return reinterpret_cast<TeamLine*>(part(rank))[turn % rotation];
  }
  // Turns are counted round; a rank is never half of them ahead.
  void await(int rank, std::uint32_t turn) const {
    const TeamLine& awaited = line_of(rank, turn);
    waiting_.until(
        [&] { return static_cast<std::int32_t>(awaited.turn.load(std::memory_order_acquire) - turn) >= 0; });
  }

  SharedMemory memory_;
  std::byte* base_;
  std::size_t part_bytes_;
  int rank_;
  int ranks_;
  std::vector<TeamMate> mates_;
  Waiting waiting_;
  std::uint32_t turn_ = 0;
};

}  // namespace parley::bench
