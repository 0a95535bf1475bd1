#pragma once

namespace parley::base {

// Wakes the thread that sleeps for a process (or, in tests, for a rank), from any thread.
// ring() is safe from any thread; a ring before the sleep is not lost.
class Doorbell {
 public:
  virtual void ring() noexcept = 0;

 protected:
  ~Doorbell() = default;
};

}  // namespace parley::base
