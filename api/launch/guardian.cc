#include "api/launch/guardian.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>

#include "api/launch/pipe.h"
#include "api/launch/signal_mask.h"

namespace parley::launch {
namespace {

// Closes all but one descriptor, so that the guardian keeps no pipe, terminal or socket of others open.
void close_all_but(int fd) noexcept {
  if (fd > 0) close_range(0, static_cast<unsigned>(fd) - 1, 0);
  close_range(static_cast<unsigned>(fd) + 1, UINT_MAX, 0);
}

// With all signals blocked.
[[noreturn]] void guard(int lifeline) noexcept {
  setpgid(0, 0);
  prctl(PR_SET_NAME, "parley-guardian");
  close_all_but(lifeline);
  char byte = 0;
  while (read(lifeline, &byte, 1) < 0 && errno == EINTR) continue;
  kill(0, SIGKILL);  // the group, this process included
  _exit(0);
}

}  // namespace

Guardian::Guardian() {
  Pipe pipe = make_pipe();
  const BlockedSignals blocked;
  const pid_t pid = fork();
  if (pid < 0) throw_system_error("cannot start the guardian process");
  if (pid == 0) {
    pipe.write.reset();
    guard(pipe.read.get());
  }
  // Both sides call setpgid: whichever comes first, the group exists before a rank joins it.
  setpgid(pid, pid);
  pid_ = pid;
  lifeline_ = std::move(pipe.write);
}

Guardian::~Guardian() {
  kill_group();
}

void Guardian::signal_group(int signal_number) const noexcept {
  if (pid_ != 0) kill(-pid_, signal_number);
}

void Guardian::kill_group() noexcept {
  if (pid_ == 0) return;
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  pid_ = 0;
  lifeline_.reset();
}

}  // namespace parley::launch
