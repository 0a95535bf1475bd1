#pragma once

#include <cstdint>

#include "transport/base/memory_ref.h"
#include "transport/base/status.h"
#include "transport/shm/cross_memory.h"

namespace parley::transport::shm {

// The memory of the process at the other end of a link, as cross-memory copies reach it: whether each of the
// two may read the other, and reads. Thread-safety: none; the engine's lock.
class PeerMemory {
 public:
  // `socket` and `end_of_life` (or -1) become readable when the peer ends. They live as long as this.
  PeerMemory(CrossMemoryTerms terms, int socket, int end_of_life) noexcept;

  [[nodiscard]] CrossRead we_read() const noexcept { return terms_.we_read; }
  [[nodiscard]] CrossRead peer_reads() const noexcept { return terms_.peer_reads; }

  // Whether we may read it at this moment; it is tried.
  bool can_read_now() noexcept;
  // Whether the kernel copies out of this memory of ours, as it does not where a device's is mapped; it is
  // tried.
  [[nodiscard]] bool can_be_copied(base::ConstMemoryRef memory) const noexcept;
  // Copies from `address` in the peer. Fails with the kernel's error. REQUIRES: we_read() is `works`.
  base::Status read(std::uint64_t address, base::MemoryRef into) const noexcept;
  // Whether what was read of a process of this number was the peer's.
  bool was_the_peers() noexcept;
  // How a read has failed that had no reason to: `peer_died`, or that error, and there are no more reads.
  base::Status give_up_on(base::Status failure) noexcept;

 private:
  [[nodiscard]] bool peer_lives() const noexcept;

  CrossMemoryTerms terms_;
  const int socket_;
  const int end_of_life_;
  std::int64_t lived_at_ = 0;  // the tick in which the peer was last seen to live
};

}  // namespace parley::transport::shm
