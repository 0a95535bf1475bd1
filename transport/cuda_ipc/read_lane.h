#pragma once

#include <cstddef>

#include "transport/base/intrusive_list.h"
#include "transport/cuda/api.h"

namespace parley::transport::cuda_ipc {

class Transfer;
struct WaitingTag;

// The sends of one stream of a device that go to one receiver by its link: how far they are read ahead of
// what has left. They share a bound, so that the same few blocks of pinned memory are used again and again,
// and take turns in the order of their grants. Streams do not share one, for each may wait for a kernel; nor
// do receivers, for each may be slow. Thread-safety: none; the engine's lock.
struct ReadLane {
  // Of blocks of pinned memory. One is sent while the next one is filled.
  static constexpr std::size_t most_ahead_bytes = std::size_t{2} << 20;

  ReadLane(cuda::Stream of, int to) noexcept : stream(of), receiver(to) {}

  cuda::Stream stream;
  int receiver;
  std::size_t readers = 0;      // transfers that use it; none: it is free for other streams and receivers
  std::size_t ahead_bytes = 0;  // of blocks that are being filled, or are full and not sent
  base::IntrusiveList<Transfer, WaitingTag> waiting;  // those that have more to begin, oldest first
};

}  // namespace parley::transport::cuda_ipc
