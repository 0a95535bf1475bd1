#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/cuda/api.h"

namespace parley::nccl::testing {

inline constexpr int most_ranks = 8;
inline constexpr std::size_t chunk_bytes = 16 << 10;
inline constexpr std::size_t mail_bytes = 4 << 10;

// What the ranks of one communicator share. Lock-free, so that it works in memory that forked processes
// share.
//
// Collectives: all ranks come to the same steps, one after another; `steps` counts them. Between two steps
// each rank writes its own chunk, or reads those of others, never both.
// Splits: all ranks come to the same ones, one after another; `splits` counts them. Each has its own part of
// every second one, which it writes before it comes; the first rank of a color tells the others where their
// child meets. Nobody comes to a split before all have left the one before the last.
// Sends and receives: the sender of a pair writes its mailbox while `written` == `read`, the receiver reads
// it while it is not.
struct Meeting {
  struct Part {
    int color, key;
    std::atomic<std::uint32_t> child;  // of this color: number of its meeting, from 1 on
  };
  struct Member {
    std::atomic<std::uint64_t> splits;
    std::array<Part, 2> parts;
    std::atomic<bool> is_there;
    std::atomic<bool> has_finished;
    cuda::DeviceId device;             // before is_there
    std::atomic<std::uint64_t> steps;  // this rank has come to
    std::uint64_t signature;           // of the collective it is in
    std::array<std::byte, chunk_bytes> chunk;
  };
  struct Mailbox {
    std::atomic<bool> has_sender, has_receiver;  // has told its first one: see connects_at_first_use
    std::atomic<std::uint64_t> written, read;
    std::size_t bytes;
    std::array<std::byte, mail_bytes> content;
  };
  std::array<Member, most_ranks> members;
  std::array<std::array<Mailbox, most_ranks>, most_ranks> mail;  // [from][to]
};

// What the SimulatedNccls of a test share: in one process a plain object, between processes a SharedPage.
struct Fabric {
  static constexpr std::uint32_t most_meetings = 64;  // in the fabric's life
  std::atomic<std::uint32_t> meetings;
  std::atomic<std::uint64_t> mismatches;  // ranks that found the others in another collective than theirs
  std::atomic<bool> holds_joins;          // nobody's join ends while this is set
  std::atomic<bool> holds_splits;         // nor anybody's split
  std::atomic<bool> blocks_splits;        // a split's call itself does not return while this is set
  // A group with a send or receive is launching until the peers that it names have told one to meet it: the
  // first such group of a pair waits for the peer.
  std::atomic<bool> connects_at_first_use;
  std::array<Meeting, most_meetings> meeting;
};

}  // namespace parley::nccl::testing
