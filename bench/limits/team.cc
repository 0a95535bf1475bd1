#include "bench/limits/team.h"

#include <utility>

namespace parley::bench {

std::size_t Team::memory_bytes(std::size_t arena_bytes, int ranks) noexcept {
  const std::size_t part = arena_at + (arena_bytes + page - 1) / page * page;
  return part * static_cast<std::size_t>(ranks);
}

Team::Team(SharedMemory memory, std::size_t arena_bytes, int rank, int ranks, std::vector<TeamMate> mates,
           const RawLink& link, Idle idle)
    : memory_(std::move(memory)),
      base_(static_cast<std::byte*>(memory_.data())),
      part_bytes_(memory_bytes(arena_bytes, 1)),
      rank_(rank),
      ranks_(ranks),
      mates_(std::move(mates)),
      waiting_(link, idle) {}

}  // namespace parley::bench
