#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include "api/launch/environment.h"
#include "api/launch/exit_status.h"
#include "api/launch/program.h"
#include "api/launch/spawn_order.h"
#include "transport/base/unique_fd.h"

namespace parley::launch {

// What every rank joins and inherits.
struct ChildPlace {
  pid_t group = 0;              // process group to join; 0: the launcher's
  bool inherits_input = false;  // standard input is the launcher's, else /dev/null
};

// How to start a rank that is a fork.
struct ChildPlan {
  ChildPlace place;
  // First thing in the child: closes what it has inherited from the launcher but must not hold.
  std::function<void()> forget_launcher;
  // What the rank does, with its environment in place; the result is its exit code.
  std::function<int()> body;
};

// How to start a rank that is a program of its own.
struct ExecutionPlan {
  ChildPlace place;
  Program program;
  Environment environment;  // on top of the launcher's
  SpawnOrder order;         // the launcher's and the arrival's part are filled in
};

// One rank's process, seen from its launcher.
//
// A forked rank is forked before the launcher has any thread; it then waits on a pipe until the launcher
// knows the store's port and tells it its environment. So a fork never copies a running thread's locks, and
// no port is chosen before it is bound. An executed one is started when all that is known, for its
// environment is there from the beginning; the launcher may have threads, and the child touches none of their
// locks. The child dies with the launcher's thread that has started it, hence with the launcher.
//
// Thread-safety: none. Destroying it closes the descriptors and neither ends nor waits for the process.
class ChildProcess {
 public:
  // Forks. REQUIRES: one thread. Throws SystemError.
  static ChildProcess start(const ChildPlan& plan);
  // Forks and executes. Throws SystemError when there can be no process; a program that cannot be executed is
  // one that ends with exit_not_found or exit_not_executable.
  static ChildProcess execute(ExecutionPlan plan);
  ChildProcess(ChildProcess&&) noexcept = default;
  ChildProcess& operator=(ChildProcess&&) noexcept = default;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] bool ended() const noexcept { return ended_; }

  // Sends a forked rank its environment, upon which it begins. A rank that is gone already shows in
  // try_reap().
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
  struct Pipes;
  ChildProcess() = default;
  ChildProcess(pid_t pid, Pipes& pipes);
  [[noreturn]] static void run_child(const ChildPlan& plan, pid_t launcher, Pipes& pipes) noexcept;

  pid_t pid_ = 0;
  bool ended_ = false;
  base::UniqueFd begin_;
  base::UniqueFd arrival_;  // an executed rank's; holds a byte once it has come to its call of spawn()
  base::UniqueFd end_fd_;
  base::UniqueFd output_;
  base::UniqueFd errors_;
};

// Throws UsageError where the kernel throws the exit statuses of children away, so that none can be had.
void require_exit_statuses();

}  // namespace parley::launch
