#pragma once

#include <optional>
#include <string>
#include <vector>

namespace parley::launch {

// Exit codes of a program that cannot be started, as a shell has them.
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;

// A program and what it is started with.
struct Program {
  std::string path;
  std::vector<std::string> arguments;  // the first is its own name
};

// The program that this process runs and the arguments it was started with, as the kernel has them now. Where
// its file was replaced or deleted since, the path is that by which the kernel still knows it. Throws
// SystemError when /proc cannot be read.
Program own_program();

// Where a program lies, or why it cannot be started.
struct ProgramSearch {
  std::string path;    // empty when there is none
  int exit_code = 0;   // then exit_not_found or exit_not_executable ...
  std::string reason;  // ... and why, in words
};

// Looks a command up as execvp does: a name with a slash is a path, any other is sought in PATH.
ProgramSearch find_program(const std::string& name);

// Becomes the program at `path` with these arguments (the first is its own name). Returns only when it
// cannot, with the exit code for that, after saying so on standard error.
int become_program(const std::string& path, const std::vector<std::string>& arguments);

}  // namespace parley::launch
