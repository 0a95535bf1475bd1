#include "api/current_world.h"

#include <parley/error.h>
#include <pthread.h>

#include <exception>

#include "api/wireup/last_handle.h"
#include "transport/base/log.h"
#include "transport/socket/crypto.h"

namespace parley::detail {
namespace {

struct LeaveAtExit {
  ~LeaveAtExit() {
    try {
      CurrentWorld::instance().leave_for_good();
    } catch (const std::exception& error) {
      PARLEY_LOG(error, "init", "while leaving at the end of the process: ", error.what());
    }
  }
};

}  // namespace

CurrentWorld& CurrentWorld::instance() {
  static CurrentWorld& current = *new CurrentWorld;
  static const LeaveAtExit at_exit = [] {
    socket::prepare_crypto();  // ranks may still link to each other while the world is left
    return LeaveAtExit();
  }();
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
  return phase_ == Phase::joined && world_.expired() ? Phase::none : phase_;
}

void CurrentWorld::enter(Phase phase) noexcept {
  {
    const std::lock_guard lock(mutex_);
    phase_ = phase;
  }
  phase_changed_.notify_all();
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

void CurrentWorld::joined(const std::shared_ptr<wireup::World>& world) noexcept {
  const std::lock_guard lock(mutex_);
  world_ = world;
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
  } left;  // goes after the pointer below
  // Released without the mutex: it may be the last handle.
  std::shared_ptr<wireup::World> world;
  {
    const std::lock_guard lock(mutex_);
    if (belongs_to_parent_ || phase_ != Phase::joined) return;
    world = world_.lock();
    phase_ = Phase::leaving;
    leaver_ = std::this_thread::get_id();
    left.current = this;
  }
  if (world == nullptr) return;
  // relaxed: destroy() and other calls are ordered by the caller.
  world->destroyed.store(true, std::memory_order_relaxed);
  world->leave(wireup::default_linger);
}

void CurrentWorld::leave_for_good() {
  leave();
  if (belongs_to_parent()) return;
  std::unique_lock lock(mutex_);
  // Ourselves: exit() was called in a completion function that runs while we leave.
  phase_changed_.wait_for(lock, wireup::default_linger, [this] {
    return phase_ != Phase::leaving || leaver_ == std::this_thread::get_id();
  });
  lock.unlock();
  wireup::wait_for_departures(wireup::default_linger);
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
