#pragma once

#include <csignal>

namespace parley::launch {

// While it lives, this thread takes no signal. Around a fork in a program with threads and handlers: none of
// these handlers runs in the child, where what it wakes or locks is the parent's.
class BlockedSignals {
 public:
  BlockedSignals() noexcept;
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // In the child, before exec: puts the default action in every handler's place and the mask back as it was,
  // so that the program starts as one of a shell would. Ignored signals stay ignored. Async-signal-safe.
  void end_before_exec() const noexcept;

 private:
  sigset_t before_;
};

}  // namespace parley::launch
