#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/collective_buffers.h"
#include "bench/contender.h"
#include "bench/limits/team.h"
#include "bench/op.h"
#include "bench/row.h"
#include "bench/world.h"

namespace parley::bench {

// The library with its buffers in its arena, as rows call it.
inline constexpr std::string_view parley_in_arena = "parley-arena";

// A raw loop of a collective: how the bytes go, and who adds what.
struct CollectiveLoop {
  enum class Way {
    line,          // in the flag's own cache line (LineSource)
    staged,        // copied in, and out (StageSource)
    cross_memory,  // read by process_vm_readv (CrossMemorySource)
    mapped,        // read where it is, in the arena (MappedSource)
  };
  Way way = Way::line;
  bool in_slices = false;       // each adds a slice (SliceLoop), not everyone all it wants (FlatLoop)
  std::size_t stage_bytes = 0;  // staged: of a piece

  // "line", "staged-64K", "mapped-slices"
  [[nodiscard]] std::string name() const;
  bool operator==(const CollectiveLoop&) const = default;
};

// The loops that can be the fastest for calls of this size; the others have nothing to say.
std::vector<CollectiveLoop> collective_loops_for(Op op, std::size_t bytes, int ranks, bool cross_memory);

// All raw loops of one operation and size, and the memory they share; made by all ranks alike.
class CollectiveLimits {
 public:
  // Above this no loops run: so much would all ranks share.
  static constexpr std::size_t most_shared_bytes = std::size_t{4} << 30;

  // Borrows stage and buffers for its lifetime. Throws the system's or the measured library's error.
  CollectiveLimits(World& world, const Stage& stage, CollectiveBuffers& buffers, std::size_t bytes);

  // With more ranks than cores each of small calls twice, as "raw line" and as "raw line+look". They borrow
  // this.
  std::vector<Contender> contenders();

 private:
  Contender make(const CollectiveLoop& loop, const std::string& name);
  template <typename Loop>
  Contender make(const CollectiveLoop& loop, const std::string& name);

  const Stage& stage_;
  CollectiveBuffers& buffers_;
  std::unique_ptr<Team> team_;
  std::optional<CollectiveBuffers> arena_buffers_;
  std::vector<CollectiveLoop> loops_;
};

// Compares all rows with the best raw loop among them: those of buffers anywhere with the best that serves
// these, those of buffers in the arena with the best of all. Void rows are no limit. Nothing happens when
// there is none.
void compare_with_best_loop(std::span<Row> rows);

}  // namespace parley::bench
