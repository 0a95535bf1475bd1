#pragma once

#include "api/nccl/in_turn.h"

namespace parley::nccl {

// The split of a group's communicator, in which all of its ranks take part, as one of its collectives.
// Thread-safety: none; the engine's lock.
class Split final : public InTurn {
 public:
  // `child`: empty, and takes what this rank gets; null: nothing, and `part` has no color. Both links and the
  // name in `part` outlive it.
  Split(Link& parent, const Division& part, Link* child) noexcept
      : InTurn(parent), part_(part), child_(child) {}

 private:
  // For what NCCL allocates, CUDA may wait until the device is idle: not for work of this communicator, which
  // could not be aborted meanwhile.
  bool is_due() noexcept override { return link().is_idle() && link().look() == Link::State::ready; }
  Link::State tell(const std::byte*, std::byte*) noexcept override { return link().split(part_); }
  void finish() noexcept override {
    const Communicator own = link().take_child();
    if (own != nullptr) child_->adopt(own);
  }

  const Division part_;
  Link* const child_;
};

}  // namespace parley::nccl
