#pragma once

#include <atomic>
#include <cstdint>

#include "transport/base/deadline.h"

namespace parley::base {

// One thread's place to sleep, with a permit: unpark() before park() makes park() return at once.
// Thread-safety: park by one thread, unpark by any.
class Parker {
 public:
  // Sleeps until unpark() or the deadline; consumes the permit. Returns whether a permit was there.
  bool park(Deadline deadline) noexcept;
  void unpark() noexcept;

 private:
  enum : std::uint32_t { empty = 0, permit = 1, parked = 2 };
  std::atomic<std::uint32_t> state_{empty};
};

}  // namespace parley::base
