#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transport/base/deadline.h"
#include "transport/base/doorbell.h"

namespace parley::socket {

// The one place where a rank sleeps: an io_context with a doorbell. Connects, accepts, handshakes and timers
// run on it; data links are descriptors that wake it.
//
// Sleeping has two phases, so that no wake-up is lost: announce_sleep(), look once more whether there is
// work, then sleep() or cancel_sleep().
//
// Thread-safety: ring() and descriptor() are safe from any thread, and other threads may start asynchronous
// work while one sleeps; the rest belongs to one thread at a time.
class Reactor final : public base::Doorbell {
 public:
  // Throws parley::ResourceError without descriptors, else SystemError.
  Reactor();
  ~Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  // Runs handlers that are ready, without blocking. Returns how many ran.
  std::size_t poll();
  // Handlers that have ever run, but for those that only end a sleep. Thread-safety: safe from any thread.
  [[nodiscard]] std::uint64_t work_done() const noexcept;

  void announce_sleep() noexcept;
  void cancel_sleep() noexcept;
  // After a sleep outside, on descriptor(), instead of sleep(): rings that woke it are forgotten.
  void end_announced_sleep() noexcept;
  // Returns when a handler ran, a watched descriptor is readable, the doorbell rang, or the deadline passed.
  void sleep(base::Deadline deadline);

  // Wakes the sleeper. Costs a system call only when one has announced itself, and one for each sleep.
  void ring() noexcept override;

  // Makes a descriptor that is readable end a sleep; level-triggered. unwatch() before closing it.
  // Throws parley::SystemError, for instance for one that is watched already.
  void watch(int fd);
  void unwatch(int fd) noexcept;

  // Readable when a watched descriptor is, or when the doorbell rang. For users with an event loop of their
  // own.
  [[nodiscard]] int descriptor() const noexcept;

  // Holds the io_context. Defined in reactor_context.h, for code that starts asynchronous operations.
  struct Impl;
  [[nodiscard]] Impl& impl() noexcept { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace parley::socket
