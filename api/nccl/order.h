#pragma once

#include <parley/tensor.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "api/collective/errand.h"
#include "api/nccl/assignment.h"
#include "api/nccl/link.h"

namespace parley::nccl {

// One collective that NCCL is to do for a run. Waits for the communicator to be ready, and for those that
// were begun before. Thread-safety: none; the engine's lock.
class Order final : public collective::Errand {
 public:
  // The link outlives it.
  Order(Link& link, Assignment assignment, cuda::Stream stream, std::chrono::nanoseconds timeout)
      : link_(link), assignment_(std::move(assignment)), stream_(stream), timeout_(timeout) {}

  base::Status begin(const std::byte* input, std::byte* output) noexcept override;
  [[nodiscard]] std::string describe() const override { return link_.describe(); }

  // Of a call that needs a copy of its input, which is brought together of this one piece.
  Tensor own_input;

 private:
  Result tell(Communicator communicator, const std::byte* input, std::byte* output) noexcept;
  void drop_scaled_sum() noexcept;

  Link& link_;
  const Assignment assignment_;
  const cuda::Stream stream_;
  const std::chrono::nanoseconds timeout_;
  std::optional<std::uint64_t> number_;  // its place among all that are told
  std::optional<Fold> scaled_sum_;       // while there is one
  bool is_told_ = false;
};

}  // namespace parley::nccl
