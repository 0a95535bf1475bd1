#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/shm/segment.h"

namespace parley::transport::shm {

// The most windows that a process has.
inline constexpr std::size_t most_windows = 4;
using WindowSet = std::bitset<most_windows>;

// Of a window where ranks share cores: what one writes waits in the cache of a core until another one has its
// turn there, or next to it.
inline constexpr std::uint32_t shared_core_window_bytes = 512U << 10;

// How a process uses windows.
struct WindowPlan {
  // Of one window, as is_valid_area(). With a core for each rank twice what a core's second-level cache
  // holds, so that a line has left the reader's cache when it is written again.
  std::uint32_t bytes = 4U << 20;
  std::size_t most = most_windows;      // at most so many are made
  std::uint64_t busy_bytes = 1U << 20;  // a link asks for one when it has sent so much in larger messages
};

// Who writes through a window.
class WindowTenant {
 public:
  // Somebody else wants the window. True: nobody reads it any more, and this tenant writes to it no more.
  virtual bool give_up_window() noexcept = 0;

 protected:
  ~WindowTenant() = default;
};

// Memory through which this process sends large messages, lent to one link at a time and made when first
// needed. A window stays until close, or until retire(); each has a place, and a generation that tells it
// from those that had the place before. Thread-safety: none.
class WindowPool {
 public:
  // REQUIRES: is_valid_area(plan.bytes), whose largest_chunk() holds what a link copies at once; and
  // plan.most <= most_windows.
  explicit WindowPool(WindowPlan plan) noexcept : plan_(plan) {}
  WindowPool(const WindowPool&) = delete;
  WindowPool& operator=(const WindowPool&) = delete;

  [[nodiscard]] const WindowPlan& plan() const noexcept { return plan_; }
  // From now on windows have this size. REQUIRES: as the constructor does; none is made yet.
  void set_bytes(std::uint32_t bytes) noexcept { plan_.bytes = bytes; }
  // REQUIRES: there is one.
  [[nodiscard]] const Segment& memory(std::size_t place) const noexcept { return windows_[place].memory; }
  // 0: there is none now.
  [[nodiscard]] std::uint32_t generation(std::size_t place) const noexcept {
    return windows_[place].memory.data() == nullptr ? 0 : windows_[place].generation;
  }
  [[nodiscard]] std::size_t made() const noexcept;

  // Lends one of these: a free one, or else that which was used longest ago among those that their tenants
  // give up. Nothing: all are busy. `tenant` stays valid until give_back() or its give_up_window() has said
  // true.
  std::optional<std::size_t> lease(const WindowSet& among, WindowTenant& tenant) noexcept;
  void touch(std::size_t place) noexcept { windows_[place].used = ++clock_; }
  void give_back(std::size_t place) noexcept { windows_[place].tenant = nullptr; }
  // As give_back(), but somebody may still read it: the memory is left to him, and the place is free.
  void retire(std::size_t place) noexcept;

  // One that shall be shown to a process that knows only these: a free one, a new one, or any. Nothing: it
  // knows all, or there is no memory.
  std::optional<std::size_t> another(const WindowSet& known) noexcept;

 private:
  struct Window {
    Segment memory;
    std::uint32_t generation = 0;
    WindowTenant* tenant = nullptr;
    std::uint64_t used = 0;
  };

  // Free ones come first, then those that were used longest ago.
  [[nodiscard]] std::uint64_t age_rank(std::size_t place) const noexcept {
    return windows_[place].tenant == nullptr ? 0 : windows_[place].used;
  }
  std::optional<std::size_t> make() noexcept;

  WindowPlan plan_;
  std::array<Window, most_windows> windows_;
  std::uint64_t clock_ = 0;
  bool short_of_memory_ = false;  // and not asked again: each link sends through its ring
};

}  // namespace parley::transport::shm
