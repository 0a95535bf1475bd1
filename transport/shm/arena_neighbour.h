#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "transport/interface/neighbour.h"
#include "transport/shm/arena_exchange.h"
#include "transport/shm/bell.h"

namespace parley::transport::shm {

// The two ends of a link, each of which reads in the other's arena, and rings the other's bell.
class ArenaNeighbour final : public Neighbour {
 public:
  // Both outlive this object.
  ArenaNeighbour(ArenaExchange& arenas, PeerBell& bell) noexcept : arenas_(arenas), bell_(bell) {}

  [[nodiscard]] std::optional<RemoteKey> key_of(base::ConstMemoryRef memory) const noexcept override;
  Sight show(base::ConstMemoryRef memory) noexcept override;
  [[nodiscard]] std::shared_ptr<const std::byte> look(const RemoteKey& key,
                                                      std::size_t bytes) const noexcept override;
  void ring_after_fence() noexcept override { bell_.ring_if_seen_asleep(); }

 private:
  ArenaExchange& arenas_;
  PeerBell& bell_;
};

}  // namespace parley::transport::shm
