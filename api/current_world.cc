#include "api/current_world.h"

#include <parley/error.h>
#include <pthread.h>

#include <exception>

#include "transport/base/log.h"

namespace parley::detail {
namespace {

struct LeaveAtExit {
  ~LeaveAtExit() {
    try {
      CurrentWorld::instance().leave();
    } catch (const std::exception& error) {
      PARLEY_LOG(error, "init", "while leaving at the end of the process: ", error.what());
    }
  }
};

}  // namespace

CurrentWorld& CurrentWorld::instance() {
  static CurrentWorld& current = *new CurrentWorld;
  static const LeaveAtExit at_exit;
  return current;
}

CurrentWorld::CurrentWorld() {
  pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                 [] { instance().after_fork_in_child(); });
}

void CurrentWorld::after_fork_in_child() noexcept {
  if (phase() != Phase::none) belongs_to_parent_ = true;
  mutex_.unlock();
}

CurrentWorld::Phase CurrentWorld::phase() const noexcept {
  return phase_ == Phase::joined && group_.expired() ? Phase::none : phase_;
}

void CurrentWorld::enter(Phase phase) noexcept {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
}

void CurrentWorld::begin_joining() {
  const std::lock_guard lock(mutex_);
  if (belongs_to_parent_)
    throw ForkedError(
        "init: Parley cannot be used in a forked child: the world belongs to the parent process");
  switch (phase()) {
    case Phase::none: break;
    case Phase::joining: throw UsageError("init() was called twice: the first call has not returned yet");
    case Phase::joined: throw UsageError("init() was called twice: call parley::destroy() first");
    case Phase::leaving: throw UsageError("init() was called before destroy() had returned");
  }
  phase_ = Phase::joining;
}

void CurrentWorld::joined(const std::shared_ptr<GroupState>& group) noexcept {
  const std::lock_guard lock(mutex_);
  group_ = group;
  phase_ = Phase::joined;
}

void CurrentWorld::joining_failed() noexcept {
  enter(Phase::none);
}

void CurrentWorld::leave() {
  struct Left {
    CurrentWorld* current = nullptr;
    ~Left() {
      if (current != nullptr) current->enter(Phase::none);
    }
  } left;                             // goes after the group below
  std::shared_ptr<GroupState> group;  // released without the mutex: it may be the last handle
  {
    const std::lock_guard lock(mutex_);
    if (belongs_to_parent_ || phase_ != Phase::joined) return;
    group = group_.lock();
    group_.reset();
    phase_ = Phase::leaving;
    left.current = this;
  }
  if (group == nullptr) return;
  // relaxed: destroy() and other calls are ordered by the caller.
  group->destroyed.store(true, std::memory_order_relaxed);
  group->world->leave(wireup::default_linger);
}

bool CurrentWorld::exists() noexcept {
  const std::lock_guard lock(mutex_);
  return !belongs_to_parent_ && phase() == Phase::joined;
}

bool CurrentWorld::belongs_to_parent() noexcept {
  const std::lock_guard lock(mutex_);
  return belongs_to_parent_;
}

}  // namespace parley::detail
