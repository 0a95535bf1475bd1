#pragma once

#include <string>

namespace parley::launch {

// How a process ended: by itself with a code, or by a signal.
struct ExitStatus {
  int code = 0;           // what it passed to exit; 0 when a signal ended it
  int signal_number = 0;  // 0 when it ended by itself
  // It ended before it had come to the call of spawn() that it was executed for. Then no code means success.
  bool never_came = false;

  // From the status word of waitpid(2) for a process that has ended.
  static ExitStatus from_wait_status(int status) noexcept;

  [[nodiscard]] bool ok() const noexcept { return code == 0 && signal_number == 0 && !never_came; }
  // As a shell says it: the code, or 128 + the signal; 1 for a code 0 that is no success.
  [[nodiscard]] int shell_code() const noexcept;
  // Signals that tell of a crash or of a kill from outside. SIGABRT is not one of them: it is also how a
  // process ends that does not catch the error about another rank's death.
  [[nodiscard]] bool is_crash() const noexcept;
  // "exited with code 3", "died of signal 9 (SIGKILL)"; with "... before it came to its
  // parley::spawn" where that is so.
  [[nodiscard]] std::string describe() const;
};

// "SIGTERM"; "SIG42" where the number has no name.
std::string signal_name(int signal_number);

}  // namespace parley::launch
