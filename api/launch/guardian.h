#pragma once

#include <sys/types.h>

#include "transport/base/unique_fd.h"

namespace parley::launch {

// A small process that kills the job when its launcher is gone, even by SIGKILL.
//
// It leads a process group of its own, which the ranks join, and reads a pipe whose only writer is the
// launcher. End of file means that the launcher has died: the guardian then kills its whole group, the ranks'
// own children and itself included. As long as it lives the group's number cannot go to anybody else.
//
// Out of its reach: processes that leave the group (setsid, setpgid). Thread-safety: none.
class Guardian {
 public:
  // Forks it; what the child does is async-signal-safe, so this process may have threads. Throws SystemError.
  Guardian();
  // Kills the group.
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  // The process group of the job.
  [[nodiscard]] pid_t group() const noexcept { return pid_; }

  // Sends a signal other than SIGKILL to the group; the guardian itself is deaf to it.
  void signal_group(int signal_number) const noexcept;

  // Kills everything in the group and waits for the guardian's end. Later calls do nothing.
  void kill_group() noexcept;

  // In a forked rank: closes its copy of the pipe, without which the launcher's death would go unseen.
  void forget_in_child() noexcept { lifeline_.reset(); }

 private:
  pid_t pid_ = 0;
  base::UniqueFd lifeline_;
};

}  // namespace parley::launch
