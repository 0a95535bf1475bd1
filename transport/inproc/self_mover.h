#pragma once

#include "transport/interface/mover.h"

namespace parley::transport {

// Moves large messages from a process to itself in one copy. Both ends of the move are under one lock, so the
// source cannot go away in the middle.
class SelfMover final : public Mover {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "self"; }
  [[nodiscard]] std::string describe() const override { return "self"; }
  [[nodiscard]] std::optional<Exposure> expose(base::ConstMemoryRef memory) noexcept override;
  bool withdraw(std::uint64_t) noexcept override { return true; }
  void note_pulled(std::uint64_t) noexcept override {}
  base::Status pull(const RemoteKey& key, base::MemoryRef into, Completion& done) noexcept override;
  void stop(Completion&) noexcept override {}  // none is ever in progress
};

}  // namespace parley::transport
