#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "transport/base/fork_guard.h"
#include "transport/base/memory_ref.h"
#include "transport/base/result.h"
#include "transport/shm/arena_space.h"
#include "transport/shm/segment.h"

namespace parley::transport::shm {

// How an arena grows.
struct ArenaPlan {
  std::size_t least_bytes = 4U << 20;  // of a segment
  std::size_t growth_divisor = 4;      // a new one has this part of what there is already, up to 256 MiB
};

// The most segments of one arena: by the plan room for some 11 GiB, or for 64 tensors of more than 256 MiB
// each.
inline constexpr std::uint32_t most_arena_segments = 64;

// Where something lies in an arena, in every process that maps it. On the wire.
struct ArenaPlace {
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
};

// Memory of this process that its peers can map: segments, made when they are needed and kept until the
// arena ends. What was allocated keeps the arena alive.
//
// Thread-safety: all of it, from any thread. find() and segment() take no lock, so that a thread that has the
// engine's never waits for one that makes a segment. In a forked child nothing can be allocated; what the
// parent had allocated can be used there and let go.
class Arena : public std::enable_shared_from_this<Arena> {
 public:
  static std::shared_ptr<Arena> create(ArenaPlan plan = {});
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Aligned to ArenaSpace::alignment; what is in it is not determined. Fails with `exhausted`, in words, when
  // no memory can be had, and with `closed` in a forked child. Throws std::bad_alloc.
  base::Result<std::shared_ptr<std::byte>> allocate(std::size_t bytes);

  // Nothing: not all of `memory` is in one segment.
  [[nodiscard]] std::optional<ArenaPlace> find(base::ConstMemoryRef memory) const noexcept;
  // REQUIRES: find() has named it.
  [[nodiscard]] const Segment& segment(std::uint32_t number) const noexcept { return parts_[number]->memory; }

 private:
  struct Part {
    explicit Part(Segment&& made) : memory(std::move(made)), space(memory.size()) {}
    Segment memory;
    ArenaSpace space;  // under `mutex_`
  };

  explicit Arena(ArenaPlan plan) noexcept : plan_(plan) {}
  std::shared_ptr<std::byte> take(std::size_t bytes);
  std::shared_ptr<std::byte> take_from(Part& part, std::size_t bytes);
  void give_back(Part& part, ArenaBlock& block) noexcept;
  base::Result<Segment> make_segment(std::size_t bytes) const;

  const ArenaPlan plan_;
  const base::ForkGuard fork_guard_;
  std::mutex growing_;  // held while a segment is made; taken before `mutex_`
  std::mutex mutex_;    // held for short
  // Those below count_ are there and do not change any more.
  std::array<std::unique_ptr<Part>, most_arena_segments> parts_;
  std::atomic<std::uint32_t> count_{0};
  std::size_t total_bytes_ = 0;  // of all segments; under `growing_`
};

}  // namespace parley::transport::shm
