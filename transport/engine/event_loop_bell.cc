#include "transport/engine/event_loop_bell.h"

#include <utility>

#include "transport/base/epoll.h"

namespace parley::transport {

int EventLoopBell::descriptor(const socket::Reactor& reactor) {
  if (set_) return set_.get();
  base::UniqueFd bell = base::make_event_fd();
  base::UniqueFd set = base::make_epoll_set();
  base::add_readable(set, bell.get());
  base::add_readable(set, reactor.descriptor());
  bell_ = std::move(bell);
  set_ = std::move(set);
  state_ = State::sleeping;
  ring();
  return set_.get();
}

void EventLoopBell::loop_looks() noexcept {
  if (state_ == State::rung) base::clear_event(bell_);
  if (state_ != State::absent) state_ = State::looking;
}

void EventLoopBell::loop_sleeps() noexcept {
  if (state_ == State::looking) state_ = State::sleeping;
}

void EventLoopBell::ring() noexcept {
  if (state_ != State::sleeping) return;
  state_ = State::rung;
  base::signal_event(bell_);
}

}  // namespace parley::transport
