#pragma once

#include <parley/export.h>
#include <parley/tensor.h>
#include <parley/types.h>

#include <memory>

namespace parley {

namespace detail {
struct HeldMessage;
struct MessageAccess;
}  // namespace detail

// A message that probe() found and took out of matching: no other receive can get it. Receive it, or drop it
// and it goes back to the place it had. Move-only. Thread-safety: one thread at a time.
class [[nodiscard, gnu::visibility("default")]] Message {
 public:
  Message(Message &&) noexcept;
  Message& operator=(Message&&) noexcept;  // the one that was here goes back
  ~Message();

  [[nodiscard]] int source() const noexcept {
    return status_.source;
  }
  [[nodiscard]] std::int64_t tag() const noexcept {
    return status_.tag;
  }
  // Size of the whole message, to allocate for.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return status_.bytes;
  }
  [[nodiscard]] DType dtype() const noexcept {
    return dtype_;
  }

  // Receives it; errors as in ProcessGroup::recv. Throws UsageError when it was received before.
  RecvStatus recv(const Tensor& tensor);

 private:
  friend struct detail::MessageAccess;
  Message();
  std::unique_ptr<detail::HeldMessage> held_;
  RecvStatus status_;
  DType dtype_{};
};

}  // namespace parley
