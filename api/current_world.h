#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "api/wireup/world.h"

namespace parley::detail {

// The world of this process: handles own it, this only knows it.
//
// Phases: none → joining (in init()) → joined → leaving (in destroy()) → none. A world that nothing of the
// program holds any more, no handle and no pending operation, counts as none.
//
// Invariants:
// 1. The mutex is held to look or to change the phase, never while joining or leaving: those last long, and
//    leaving runs completion functions, which may ask for the world.
// 2. One thread at most is joining or leaving; whoever else wants to is refused, or has nothing to do.
// 3. Across a fork the mutex is held, so that a child finds all this whole.
//
// Thread-safety: safe.
class CurrentWorld {
 public:
  // Never destroyed: threads may ask until the very end. At the end of the process the world is left, if
  // handles that are never destroyed (in statics, after exit()) still hold it, and whoever is leaving is
  // waited for.
  static CurrentWorld& instance();

  // Throws UsageError unless the phase is none, ForkedError in a child.
  void begin_joining();
  void joined(const std::shared_ptr<wireup::World>& world) noexcept;
  void joining_failed() noexcept;

  // Does nothing unless the phase is joined, nor in a child.
  void leave();
  // leave(), and waits until another thread that is leaving already has left.
  void leave_for_good();

  [[nodiscard]] bool exists() noexcept;
  // Whether this is a forked child of a process that had a world, or was in init() or destroy(), at that
  // moment. That world is the parent's, and this never ends.
  [[nodiscard]] bool belongs_to_parent() noexcept;

 private:
  enum class Phase { none, joining, joined, leaving };

  CurrentWorld();
  // With the mutex held. The handle that is released last may leave the world in doing so: it must not be
  // ours, so nothing here locks the pointers but leave().
  [[nodiscard]] Phase phase() const noexcept;
  void enter(Phase phase) noexcept;
  void after_fork_in_child() noexcept;

  std::mutex mutex_;
  Phase phase_ = Phase::none;
  std::condition_variable phase_changed_;
  std::thread::id leaver_;              // in phase leaving
  std::weak_ptr<wireup::World> world_;  // in phase joined
  bool belongs_to_parent_ = false;
};

}  // namespace parley::detail
