#pragma once

#include "transport/base/unique_fd.h"
#include "transport/socket/reactor.h"

namespace parley::transport {

// The descriptor that a user's event loop waits for: readable with the reactor's next event, or when another
// thread has made progress since the loop last looked, and may have taken the event meant for it.
// Thread-safety: none; the engine's lock.
class EventLoopBell {
 public:
  // Made, and rung, by the first call; nothing below does anything before it. Throws ResourceError,
  // SystemError.
  int descriptor(const socket::Reactor& reactor);

  // The loop looks by itself: rings before its next sleep are not needed.
  void loop_looks() noexcept;
  // The loop has found nothing and is about to sleep.
  void loop_sleeps() noexcept;
  // Wakes the loop, if it sleeps; one system call at most for each of its sleeps.
  void ring() noexcept;
  // Whether ring() would do anything.
  [[nodiscard]] bool may_ring() const noexcept { return state_ == State::sleeping; }

 private:
  enum class State : unsigned char {
    absent,    // no descriptor was asked for
    looking,   // the loop will look again before it sleeps
    sleeping,  // it may sleep, and the bell is silent
    rung,      // the bell was rung since
  };
  base::UniqueFd set_;   // epoll set of the reactor and `bell_`
  base::UniqueFd bell_;  // eventfd
  State state_ = State::absent;
};

}  // namespace parley::transport
