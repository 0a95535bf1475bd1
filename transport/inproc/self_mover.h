#pragma once

#include "transport/interface/mover.h"

namespace parley::transport {

// Moves large messages from a process to itself in one copy. Both ends of the move are under one lock, so the
// source cannot go away in the middle.
class SelfMover final : public Mover {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "self"; }
  [[nodiscard]] RemoteKey expose(base::ConstMemoryRef memory) noexcept override;
  base::Status pull(const RemoteKey& key, base::MemoryRef into, Completion& done) noexcept override;
};

}  // namespace parley::transport
