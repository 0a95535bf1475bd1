#pragma once

#include <cstdint>
#include <span>

#include "api/schedule/builder.h"
#include "api/schedule/slice.h"

namespace parley::schedule {

// A part of another rank's input, as that one has it, and where it shall go.
struct Taken {
  std::uint32_t owner = 0;
  Slice from = {};
  Slice to = {};
};

// In memory that all ranks of a host share, where everyone lends (Shape::everyone_lends): each takes what it
// wants of the others' inputs in one piece, however much a stage holds. Messages: none. No mark is awaited
// but at the end, by those who have lent. The turn, may_lend() and end_loans() are the caller's part.
void take_whole(Builder& builder, std::span<const Taken> wanted);

}  // namespace parley::schedule
