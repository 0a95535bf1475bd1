#pragma once

#include <cstdint>

#include "api/schedule/operation.h"
#include "api/schedule/shape.h"

namespace parley::schedule {

// Which ranks send and receive alike, so that who costs a large group need not look at each of them. Ranks
// are numbered in units of `unit`, and a move takes each unit to another one and leaves the places within
// alone: by a rotation unit k goes to k + distance, modulo the number of units; by an exchange to k xor
// distance, of units whose number is a power of two. The transfers of a rank that was moved are those of the
// rank, in the same order and with the same counts, with all peers moved by the same distance.
//
// Local steps are not promised: one rank may have a copy more than another one, or folds in another order.
struct Symmetry {
  enum class Kind : std::uint8_t { none, rotation, exchange };
  Kind kind = Kind::none;
  std::uint32_t unit = 1;  // 1, or the ranks of a host

  friend bool operator==(const Symmetry&, const Symmetry&) = default;
};

// `rank` moved by `distance`. REQUIRES: symmetry.kind is not none, of a group of `size`.
std::uint32_t moved(const Symmetry& symmetry, std::uint32_t size, std::uint32_t rank,
                    std::uint32_t distance) noexcept;
// The distance that takes the unit of `from` to that of `to`. REQUIRES: as above.
std::uint32_t distance_between(const Symmetry& symmetry, std::uint32_t size, std::uint32_t from,
                               std::uint32_t to) noexcept;

// What an algorithm promises for a shape, and the model test holds it to. Of an all_reduce that cuts its
// vector into blocks: if all blocks are equal. Of two levels: if hosts are runs of equally many ranks, in
// order. Pure, O(ranks) with hosts.
Symmetry symmetry(Operation operation, Algorithm algorithm, const Shape& shape);

// The least count, not below that of the shape, of which all blocks are equal that an algorithm cuts.
std::uint64_t even_count(Operation operation, Algorithm algorithm, const Shape& shape);

}  // namespace parley::schedule
