#pragma once

#include <parley/tensor.h>

#include <chrono>
#include <optional>
#include <utility>

#include "api/nccl/assignment.h"
#include "api/nccl/in_turn.h"

namespace parley::nccl {

// One collective that NCCL is to do for a run. Thread-safety: none; the engine's lock.
class Order final : public InTurn {
 public:
  // The link outlives it.
  Order(Link& link, Assignment assignment, cuda::Stream stream, std::chrono::nanoseconds timeout)
      : InTurn(link), assignment_(std::move(assignment)), stream_(stream), timeout_(timeout) {}

  // Of a call that needs a copy of its input, which is brought together of this one piece.
  Tensor own_input;

 private:
  Link::State tell(const std::byte* input, std::byte* output) noexcept override;
  void finish() noexcept override;
  Result enqueue_for(Communicator communicator, const std::byte* input, std::byte* output) noexcept;

  const Assignment assignment_;
  const cuda::Stream stream_;
  const std::chrono::nanoseconds timeout_;
  std::optional<Fold> scaled_sum_;  // while there is one
};

}  // namespace parley::nccl
