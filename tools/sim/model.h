#pragma once

#include <cstdint>
#include <vector>

namespace parley::sim {

// Messages of `from_bytes` bytes or more, up to where the next piece begins.
struct Piece {
  std::uint64_t from_bytes = 0;
  double latency_ns = 0;  // from the end of its sending until it is there; keeps nobody busy
  double byte_ns = 0;     // of each byte, at both ends at the same time
  // Of each byte, too, at either end, but of what a rank sends and of what it receives one after the other:
  // more than half of byte_ns where its core moves both, 0 where an adapter does.
  double core_byte_ns = 0;
};

// What a message costs between two ranks of one host, or of two: piecewise linear in its size, as SimGrid's
// SMPI has it (Clauss, Stillwell, Genaud et al.: Single node on-line simulation of MPI applications with
// SMPI, IPDPS 2011); within a piece it is LogGP's L + o + G n (Alexandrov, Ionescu, Schauser, Scheiman, JPDC
// 44(1), 1997).
struct Tier {
  double message_ns = 0;      // keeps the sender, and later the receiver, busy: o
  std::vector<Piece> pieces;  // by from_bytes, the first of 0; at least one

  [[nodiscard]] const Piece& piece(std::uint64_t bytes) const noexcept;
  // How long one end is busy with it.
  [[nodiscard]] double busy_ns(std::uint64_t bytes) const noexcept;
  // From the beginning of its sending until it is there, where nothing is in its way.
  [[nodiscard]] double alone_ns(std::uint64_t bytes) const noexcept;
  // The least of all pieces, and of each byte.
  [[nodiscard]] double least_latency_ns() const noexcept;
  [[nodiscard]] double least_byte_ns() const noexcept;
};

// Memory that ranks share, in calls of `from_bytes` bytes or more, up to where the next piece begins.
struct SharedPiece {
  std::uint64_t from_bytes = 0;
  double mark_ns = 0;       // from the writing of a mark until others see it
  double byte_ns = 0;       // to copy a byte into it or out of it
  double fold_byte_ns = 0;  // to fold a byte that is in it
};

// What ranks and links cost, in nanoseconds.
struct Model {
  Tier near = {};                        // within a host
  Tier far = {};                         // between hosts
  double uplink_ns = 0;                  // more latency of what leaves a rack
  double fold_byte_ns = 0;               // to fold a byte that came by message: gamma
  double copy_byte_ns = 0;               // to copy a byte within a rank's memory
  double step_ns = 0;                    // to begin a copy or a fold
  double seen_mark_ns = 0;               // to look at a mark that is there
  std::vector<SharedPiece> shared = {};  // by from_bytes, the first of 0; at least one

  [[nodiscard]] const SharedPiece& shared_piece(std::uint64_t bytes) const noexcept;
};

// The prices by which the library itself predicts (api/schedule/prices.h): shared memory within a host, TCP
// between hosts.
Model library_model();

}  // namespace parley::sim
