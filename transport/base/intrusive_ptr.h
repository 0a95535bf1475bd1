#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace parley::base {

// In what is shared: the number of shares. A copy of that begins with none.
struct ShareCount {
  ShareCount() noexcept = default;
  ShareCount(const ShareCount&) noexcept {}
  ShareCount& operator=(const ShareCount&) noexcept { return *this; }
  mutable std::size_t value = 0;
};

// A share in a T, which lives as long as there is one; as std::shared_ptr, but the count is a plain one
// within the T (`ShareCount shares`). An atomic one costs a locked instruction each time, which
// waits for all that this core has just stored into the caches of others. Thread-safety: none, of all shares
// in one T together.
template <typename T>
class IntrusivePtr {
 public:
  IntrusivePtr(std::nullptr_t = nullptr) noexcept {}
  template <typename U>
  IntrusivePtr(std::unique_ptr<U> made) noexcept : to_(made.release()) {
    take();
  }
  IntrusivePtr(const IntrusivePtr& other) noexcept : to_(other.to_) { take(); }
  IntrusivePtr(IntrusivePtr&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
  IntrusivePtr& operator=(IntrusivePtr other) noexcept {
    std::swap(to_, other.to_);
    return *this;
  }
  [[gnu::hot]] ~IntrusivePtr() {
    if (to_ != nullptr && --to_->shares.value == 0) delete to_;
  }

  T* operator->() const noexcept { return to_; }
  T& operator*() const noexcept { return *to_; }
  friend bool operator==(const IntrusivePtr&, const IntrusivePtr&) noexcept = default;

 private:
  void take() noexcept {
    if (to_ != nullptr) ++to_->shares.value;
  }

  T* to_ = nullptr;
};

}  // namespace parley::base
