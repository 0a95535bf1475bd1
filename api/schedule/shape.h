#pragma once

#include <cstdint>
#include <span>

#include "api/schedule/operation.h"

namespace parley::schedule {

// What a schedule is made from. Two ranks of one call differ in `rank`, and in all_to_all in what they send
// and receive; everything else is the same on all ranks. Counts are elements. Spans belong to the caller and
// live as long as the shape does.
struct Shape {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;  // ranks of the group
  std::uint32_t root = 0;  // broadcast, reduce, scatter, gather

  // The whole vector in broadcast, reduce, all_reduce, scan and exscan; one rank's block in the others.
  std::uint64_t count = 0;
  // Uneven blocks, one count for each rank, instead of `count`; in all_to_all what this rank sends to each.
  // Linear scatter and gather read only their own count where they are not the root.
  std::span<const std::uint64_t> counts = {};
  // all_to_all with `counts`: what this rank receives from each.
  std::span<const std::uint64_t> receive_counts = {};

  // The caller's input and output share memory, as in_place_layout() says. In an all_to_all as much then
  // comes from each rank as is sent to it.
  bool in_place = false;
  // Elements of a message of the algorithms that cut their data into segments; 0: one segment.
  std::uint64_t segment_count = 0;
  // The host of each rank, by any number that tells hosts apart. Empty: all on one host.
  std::span<const std::uint32_t> hosts = {};
  // Elements of Space::line and Space::stage, of each rank and turn, that the ranks of each host share; 0:
  // they share no memory. All that is said of this memory is the same on all ranks of a host.
  std::uint64_t line_count = 0;
  std::uint64_t stage_count = 0;
  // So many turns later the same line, and stage, may be used again, an even number. The more there are, the
  // further a rank that waits for nothing else runs ahead of the others.
  std::int32_t line_turns = 2;
  std::int32_t stage_turns = 2;
  // So large blocks, or vectors, may be lent; 0: none.
  std::uint64_t loan_count = 0;
  // All ranks lend what others want of them, and have told so in a turn before, in which each has awaited all
  // others. Such a schedule shows nothing on stages and goes in one piece. Of all_reduce in slices, and of
  // all_gather, all_to_all (not in place) and scatter, flat.
  bool everyone_lends = false;
};

// Elements of rank `rank`'s block (scatter, gather, all_gather, reduce_scatter; all_to_all: what is sent to
// it).
std::uint64_t block_count(const Shape& shape, std::uint32_t rank) noexcept;
// all_to_all: elements that come from `rank`.
std::uint64_t receive_count(const Shape& shape, std::uint32_t rank) noexcept;

// Elements of the caller's two buffers on this rank. A buffer that the operation does not use here has none:
// the input of a broadcast beside the root, the output of a reduce beside the root, and so on.
std::uint64_t input_count(Operation operation, const Shape& shape) noexcept;
std::uint64_t output_count(Operation operation, const Shape& shape) noexcept;

// Where the two buffers begin in the memory that they share when the caller works in place.
struct InPlaceLayout {
  std::uint64_t input_begin = 0;
  std::uint64_t output_begin = 0;
};

// gather (root) and all_gather: the input is this rank's block of the output. scatter (root) and
// reduce_scatter: the output is this rank's block of the input. All others: both begin together.
InPlaceLayout in_place_layout(Operation operation, const Shape& shape) noexcept;
// Whether that takes the shape to know.
constexpr bool has_own_layout(Operation operation) noexcept {
  return operation == Operation::gather || operation == Operation::all_gather ||
         operation == Operation::scatter || operation == Operation::reduce_scatter;
}

// How many hosts the ranks are on, and how many ranks are on the one that has most of them.
std::uint32_t host_count(const Shape& shape);
std::uint32_t largest_host(const Shape& shape);

}  // namespace parley::schedule
