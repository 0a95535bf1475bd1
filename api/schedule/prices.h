#pragma once

#include <cstdint>
#include <string_view>

#include "api/schedule/operation.h"
#include "api/schedule/shape.h"

namespace parley::schedule {

// How the ranks of a host, or those of different hosts, reach each other.
enum class Link : std::uint8_t { shared_memory, tcp };
std::string_view name(Link link) noexcept;

// What a message costs: from its sending until it is there, beyond what it keeps its sender or receiver busy;
// what it keeps them busy; and each byte, of which those of large messages cost more, for no cache holds
// them.
struct LinkPrice {
  double latency_ns;
  double message_ns;
  double byte_ns;
  double large_byte_ns;
};
LinkPrice price(Link link) noexcept;

inline constexpr double step_ns = 40;         // to run any step
inline constexpr double fold_byte_ns = 0.08;  // to fold a byte into another
// Of memory that a host's ranks share: a mark that is awaited, from its writing on; an awaited one that has
// come before; a byte that one rank writes and another one reads, or that is copied back; and one that is
// folded where another rank has written it (of an algorithm that shares memory all of it, what came by
// message, too). Between cores that share no cache all of it costs two to three times as much, a mark most of
// all.
inline constexpr double mark_ns = 120;
inline constexpr double seen_mark_ns = 10;
inline constexpr double shared_byte_ns = 0.02;
inline constexpr double shared_fold_byte_ns = 0.024;

// Where a collective runs. The same on all ranks, so that all predict the same.
struct Surroundings {
  Link near = Link::shared_memory;  // within a host
  Link far = Link::tcp;             // between hosts
  // On the host where they are fewest, how many ranks share a core; at least 1.
  double ranks_per_core = 1;
  // All memory is on one device, which works for one process at a time (transport/cuda_ipc/README.md).
  bool is_one_device = false;
};

// How many ranks of one host send to other hosts at the same time, through one adapter.
std::uint32_t ranks_that_cross(Algorithm algorithm, const Shape& shape);

// Predicted time of a collective of elements of `element_bytes`, in nanoseconds, by the promised cost
// (latency-bandwidth model; Hockney, Parallel Computing 20(3), 1994). A pure function of what all ranks know.
// REQUIRES: supports(operation, algorithm, shape).
double predict_ns(Operation operation, Algorithm algorithm, const Shape& shape, std::uint64_t element_bytes,
                  const Surroundings& surroundings);

}  // namespace parley::schedule
