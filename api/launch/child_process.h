#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include "api/launch/environment.h"
#include "api/launch/exit_status.h"
#include "transport/base/unique_fd.h"

namespace parley::launch {

// How to start one rank.
struct ChildPlan {
  pid_t group = 0;              // process group to join; 0: the launcher's
  bool inherits_input = false;  // standard input is the launcher's, else /dev/null
  // First thing in the child: closes what it has inherited from the launcher but must not hold.
  std::function<void()> forget_launcher;
  // What the rank does, with its environment in place; the result is its exit code.
  std::function<int()> body;
};

// One rank's process, seen from its launcher.
//
// The child is forked before the launcher has any thread; it then waits on a pipe until the launcher knows
// the store's port and tells it its environment. So a fork never copies a running thread's locks, and no port
// is chosen before it is bound. The child dies with its launcher.
//
// Thread-safety: none. Destroying it closes the descriptors and neither ends nor waits for the process.
class ChildProcess {
 public:
  // Forks. REQUIRES: one thread. Throws SystemError.
  static ChildProcess start(const ChildPlan& plan);
  ChildProcess(ChildProcess&&) noexcept = default;
  ChildProcess& operator=(ChildProcess&&) noexcept = default;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] bool ended() const noexcept { return ended_; }

  // Sends the environment, upon which the rank begins. A rank that is gone already shows in try_reap().
  void begin(const Environment& environment) noexcept;

  // Readable once the process has ended; -1 where the kernel has no pidfd.
  [[nodiscard]] int end_fd() const noexcept { return end_fd_.get(); }
  // The status, once, when the process has ended.
  std::optional<ExitStatus> try_reap() noexcept;
  // Waits for its end.
  void reap() noexcept;
  // Does nothing once it was reaped.
  void send_signal(int signal_number) const noexcept;

  // What the rank writes to standard output and standard error; non-blocking.
  base::UniqueFd take_output() noexcept { return std::move(output_); }
  base::UniqueFd take_errors() noexcept { return std::move(errors_); }

 private:
  ChildProcess() = default;

  pid_t pid_ = 0;
  bool ended_ = false;
  base::UniqueFd begin_;
  base::UniqueFd end_fd_;
  base::UniqueFd output_;
  base::UniqueFd errors_;
};

}  // namespace parley::launch
