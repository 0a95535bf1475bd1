#include "tests/multiprocess/support/side_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace parley::testing {

SideProcess::SideProcess(const std::function<void()>& run) {
  const pid_t test = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::system_category(), "fork");
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The test may have died before the line above; then no signal will come.
  if (getppid() == test) run();
  _exit(0);
}

SideProcess::~SideProcess() {
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

}  // namespace parley::testing
