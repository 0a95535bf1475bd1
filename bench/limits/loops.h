#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "bench/op.h"

namespace parley::bench {

// The raw loops: what two processes of one host can do without a library. Each is a class of its own, named
// with its definition in systems.h; all send the message from `Buffers::out` of the sender and end
// with it in `Buffers::in` of the receiver.
enum class LoopKind {
  cell,
  ring,
  ring_stream,
  copied_reused,
  copied_rotating,
  copied_past_caches,
  cross_memory,
  mapped,
  // No raw loops, but the library in the same rounds: never the best, but compared with it.
  parley,
  parley_arena,  // with buffers in its arena
};

constexpr bool is_library(LoopKind kind) noexcept {
  return kind == LoopKind::parley || kind == LoopKind::parley_arena;
}

// Where a program's buffers must lie for a loop.
enum class Placement {
  anywhere,  // in memory of the process's own
  arena,     // the sender's in memory that the receiver maps
};

constexpr Placement placement_of(LoopKind kind) noexcept {
  const bool is_arena = kind == LoopKind::mapped || kind == LoopKind::parley_arena;
  return is_arena ? Placement::arena : Placement::anywhere;
}

// "copied-rotating"
constexpr std::string_view to_string(LoopKind kind) noexcept {
  switch (kind) {
    case LoopKind::cell: return "cell";
    case LoopKind::ring: return "ring";
    case LoopKind::ring_stream: return "ring-stream";
    case LoopKind::copied_reused: return "copied-reused";
    case LoopKind::copied_rotating: return "copied-rotating";
    case LoopKind::copied_past_caches: return "copied-past-caches";
    case LoopKind::cross_memory: return "cross-memory";
    case LoopKind::mapped: return "mapped";
    case LoopKind::parley: return "parley";
    case LoopKind::parley_arena: return "parley-arena";
  }
  return "";
}

// The loops that can be the fastest for messages of this size; the others have nothing to say. Without
// `cross_memory`, the kernel refuses that one. Message rates are about what a message costs, whatever is in
// it: no loop that saves a copy.
std::vector<LoopKind> loops_for(Op op, std::size_t bytes, bool cross_memory);

}  // namespace parley::bench
