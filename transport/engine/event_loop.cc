// Progress for an event loop of the user, which sleeps on descriptor() instead of in wait().
#include <utility>

#include "transport/engine/engine.h"

namespace parley::transport {

std::size_t Engine::progress() {
  const Held held(*this);
  end_announced_sleep();
  loop_relies_on_sleeper_ = false;
  event_loop_bell_.loop_looks();
  // Whoever is asleep already handles the next event, and tells the loop.
  do {
    if (const std::size_t events = look_once(); events != 0) return events;
    sleep_announced_ = !asleep_ && arm_for_sleep();
  } while (!asleep_ && !sleep_announced_);
  loop_relies_on_sleeper_ = asleep_;
  event_loop_bell_.loop_sleeps();
  return 0;
}

// A thread that looked or slept in the place of a user's event loop does so no longer: the loop has to arm
// again.
void Engine::resign() noexcept {
  if (std::exchange(loop_relies_on_sleeper_, false)) event_loop_bell_.ring();
}

void Engine::end_announced_sleep() noexcept {
  if (std::exchange(sleep_announced_, false)) reactor_.end_announced_sleep();
}

// REQUIRES: sleep_announced_. Until resign().
void Engine::stand_in_for_loop() noexcept {
  loop_relies_on_sleeper_ = true;
  end_announced_sleep();
}

int Engine::descriptor() {
  const Held held(*this);
  return event_loop_bell_.descriptor(reactor_);
}

}  // namespace parley::transport
