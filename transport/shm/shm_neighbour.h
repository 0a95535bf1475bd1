#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "transport/interface/neighbour.h"
#include "transport/shm/arena_exchange.h"
#include "transport/shm/bell.h"
#include "transport/shm/peer_memory.h"

namespace parley::transport::shm {

// The two ends of a link, each of which reads in the other's arena, and in its process, and rings the other's
// bell.
class ShmNeighbour final : public Neighbour {
 public:
  // All of them outlive this object.
  ShmNeighbour(ArenaExchange& arenas, PeerMemory& memory, PeerBell& bell) noexcept
      : arenas_(arenas), memory_(memory), bell_(bell) {}

  [[nodiscard]] std::optional<RemoteKey> key_of(base::ConstMemoryRef memory) const noexcept override;
  Sight show(base::ConstMemoryRef memory) noexcept override;
  [[nodiscard]] std::shared_ptr<const std::byte> look(const RemoteKey& key,
                                                      std::size_t bytes) const noexcept override;
  [[nodiscard]] std::optional<RemoteKey> key_for_copies(base::ConstMemoryRef memory) const noexcept override;
  [[nodiscard]] bool may_copy() noexcept override { return memory_.can_read_now(); }
  base::Status copy(const RemoteKey& key, std::size_t offset, base::MemoryRef into) noexcept override;
  void ring_after_fence() noexcept override { bell_.ring_if_seen_asleep(); }
  [[nodiscard]] std::shared_ptr<const std::atomic<std::uint32_t>> sleep_word() const noexcept override {
    static_assert(BellPage::awake == 0, "as a Neighbour says it");
    return bell_.word();
  }

 private:
  ArenaExchange& arenas_;
  PeerMemory& memory_;
  PeerBell& bell_;
};

}  // namespace parley::transport::shm
