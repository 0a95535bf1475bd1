#pragma once

#include <string>
#include <vector>

#include "api/launch/environment.h"
#include "api/launch/program.h"

namespace parley::launch {

// A program with all that execve(2) needs, made before the fork: in the child of a process with threads
// nothing may allocate or lock, for a thread that is not there may hold the lock.
class Execution {
 public:
  // The program gets this process's environment, in which `environment` wins. Nobody may change either
  // meanwhile.
  Execution(const Program& program, const Environment& environment);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // Becomes the program. If it cannot, says so on standard error and leaves with exit_not_found or
  // exit_not_executable. Async-signal-safe.
  [[noreturn]] void begin() const noexcept;

 private:
  std::string path_;
  std::vector<std::string> arguments_;
  std::vector<std::string> variables_;
  std::vector<char*> argument_pointers_;  // into those above, with a null at the end, as execve wants them
  std::vector<char*> variable_pointers_;
};

}  // namespace parley::launch
