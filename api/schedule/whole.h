#pragma once

#include <cstdint>
#include <span>

#include "api/schedule/builder.h"
#include "api/schedule/slice.h"

namespace parley::schedule {

// A part of a rank's input, as that one has it, and where it shall go.
struct Taken {
  std::uint32_t owner = 0;
  Slice from = {};
  Slice to = {};
};

// In memory that all ranks of a host share, where everyone lends (Shape::everyone_lends): each takes what it
// wants of the inputs in one piece, however much a stage holds, in a turn of its own. Messages: none. No mark
// is awaited but at the end, by those who have lent. Rank `me` had better name its own first, which is in its
// caches still. may_lend() and end_loans() are the caller's part.
void take_whole(Builder& builder, std::uint32_t me, std::span<const Taken> wanted);

}  // namespace parley::schedule
