#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "api/collective/errand.h"
#include "api/nccl/link.h"

namespace parley::nccl {

// An errand that is told to a link in its turn: when the communicator is ready, after all that were begun
// before. Thread-safety: none; the engine's lock.
class InTurn : public collective::Errand {
 public:
  base::Status begin(const std::byte* input, std::byte* output) noexcept final;
  [[nodiscard]] std::string describe() const final { return link_.describe(); }

 protected:
  // The link outlives it.
  explicit InTurn(Link& link) noexcept : link_(link) {}
  ~InTurn() = default;

  // Whether it may be told now; asked again soon if not. REQUIRES: the link is ready.
  virtual bool is_due() noexcept { return true; }
  // Tells it, which is done once. REQUIRES: the link is ready.
  virtual Link::State tell(const std::byte* input, std::byte* output) noexcept = 0;
  // It is told, and the link is ready again: the next one's turn comes after this.
  virtual void finish() noexcept = 0;
  [[nodiscard]] Link& link() const noexcept { return link_; }

 private:
  Link& link_;
  std::optional<std::uint64_t> number_;  // its place among all that are told
  bool is_told_ = false;
};

}  // namespace parley::nccl
