#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/base/intrusive_list.h"
#include "transport/cuda/api.h"

namespace parley::transport::cuda_ipc {

class Transfer;
struct WaitingTag;

// The sends of one stream of a device that go to one receiver by its link: how far they are read ahead of
// what has left. They share a bound, so that the same few blocks of pinned memory are used again and again,
// and take turns in the order of their grants. Streams do not share one, for each may wait for a kernel; nor
// do receivers, for each may be slow. A stream makes its copies in order, so one that has come tells of all
// before it; to ask takes the host longer than to tell a copy. Thread-safety: none; the engine's lock.
struct ReadLane {
  // A piece whose copy is told to the stream: numbered from 1, in the order in which the stream makes them.
  struct Mark {
    std::uint64_t number = 0;  // 0: none
    cuda::Event event = nullptr;
  };
  // Of blocks of pinned memory. One is sent while the next one is filled.
  static constexpr std::size_t most_ahead_bytes = std::size_t{2} << 20;

  ReadLane(cuda::Stream of, int to) noexcept : stream(of), receiver(to) {}

  cuda::Stream stream;
  int receiver;
  std::size_t readers = 0;      // transfers that use it; none: it is free for other streams and receivers
  std::size_t ahead_bytes = 0;  // of blocks that are being filled, or are full and not sent
  Mark latest;                  // begun last, and not ended
  Mark asked;                   // what was `latest` when the one before it had come, and not ended
  std::uint64_t here = 0;       // pieces up to this number have come
  std::uint64_t begun = 0;      // the last number
  base::IntrusiveList<Transfer, WaitingTag> waiting;  // those that have more to begin, oldest first
};

}  // namespace parley::transport::cuda_ipc
