#pragma once

#include <atomic>
#include <cstdint>

namespace parley::base {

// How many forks lie between the first process and this one. A forked child sees another number than its
// parent, so an object that remembers the number it was made with knows when it was carried over a fork.
// Cost: one relaxed load (getpid() is a system call).
class ForkGuard {
 public:
  ForkGuard();  // remembers the present number
  [[nodiscard]] bool in_child() const noexcept {
    // relaxed: fork() itself orders the child's view, and no other thread writes it there.
    return generation_.load(std::memory_order_relaxed) != mine_;
  }

 private:
  static std::atomic<std::uint64_t> generation_;
  std::uint64_t mine_;
};

}  // namespace parley::base
