#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "transport/base/deadline.h"

namespace parley::detail {

// Which thread of this rank has a group's ranks agree how they work together on devices, in the group's first
// call on them. While it does, it waits, and runs completion functions like every call that waits: the mutex
// is held for a moment only, and not meanwhile. Thread-safety: all.
class DeviceMeeting {
 public:
  enum class State : std::uint8_t {
    none,     // nobody has begun, or who has has failed: the next one begins
    meeting,  // one thread of this rank is at it
    agreed,   // for good
  };
  enum class Entry : std::uint8_t {
    begun,   // the caller is at it now, and calls end()
    agreed,  // the result is there, and visible to the caller
    inside,  // the caller's thread is at it already: this is a completion function
    late,    // another thread was at it until the deadline
  };

  // Waits while another thread is at it.
  Entry begin(base::Deadline deadline) {
    std::unique_lock lock(mutex_);
    while (state_ == State::meeting) {
      if (thread_ == std::this_thread::get_id()) return Entry::inside;
      if (deadline.expired()) return Entry::late;
      if (deadline.is_never())
        changed_.wait(lock);
      else
        changed_.wait_until(lock, deadline.when());
    }
    if (state_ == State::agreed) return Entry::agreed;
    state_ = State::meeting;
    thread_ = std::this_thread::get_id();
    return Entry::begun;
  }
  // With the result in its place, or in vain.
  void end(bool has_agreed) noexcept {
    {
      const std::lock_guard lock(mutex_);
      state_ = has_agreed ? State::agreed : State::none;
    }
    changed_.notify_all();
  }
  // The result is visible to whoever has seen `agreed`.
  [[nodiscard]] State state() const noexcept {
    const std::lock_guard lock(mutex_);
    return state_;
  }

 private:
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  State state_ = State::none;
  std::thread::id thread_;  // that is at it
};

}  // namespace parley::detail
