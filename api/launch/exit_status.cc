#include "api/launch/exit_status.h"

#include <sys/wait.h>

#include <csignal>
#include <cstring>

namespace parley::launch {

ExitStatus ExitStatus::from_wait_status(int status) noexcept {
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

bool ExitStatus::is_crash() const noexcept {
  switch (signal_number) {
    case SIGKILL:
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGSYS: return true;
    default: return false;
  }
}

int ExitStatus::shell_code() const noexcept {
  if (signal_number != 0) return 128 + signal_number;
  return code == 0 && never_came ? 1 : code;
}

std::string ExitStatus::describe() const {
  const std::string place = never_came ? " before it came to its parley::spawn" : "";
  if (signal_number == 0) return "exited with code " + std::to_string(code) + place;
  return "died of signal " + std::to_string(signal_number) + " (" + signal_name(signal_number) + ")" + place;
}

std::string signal_name(int signal_number) {
  const char* abbreviation = sigabbrev_np(signal_number);
  return "SIG" + (abbreviation != nullptr ? std::string(abbreviation) : std::to_string(signal_number));
}

}  // namespace parley::launch
