#include "api/launch/execution.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace parley::launch {
namespace {

std::vector<std::string> variables_with(const Environment& environment) {
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!environment.contains(std::string(text.substr(0, text.find('='))))) variables.emplace_back(text);
  }
  for (const auto& [name, value] : environment) variables.emplace_back(name).append("=").append(value);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void say(std::string_view text) noexcept {
  // There is nobody left to tell that this fails.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Execution::Execution(const Program& program, const Environment& environment)
    : path_(program.path),
      arguments_(program.arguments),
      variables_(variables_with(environment)),
      argument_pointers_(pointers_to(arguments_)),
      variable_pointers_(pointers_to(variables_)) {}

void Execution::begin() const noexcept {
  execve(path_.c_str(), argument_pointers_.data(), variable_pointers_.data());
  const int reason = errno;
  const char* const words = strerrordesc_np(reason);
  say("cannot start ");
  say(path_);
  say(": ");
  say(words != nullptr ? words : "unknown error");
  say("\n");
  _exit(reason == ENOENT ? exit_not_found : exit_not_executable);
}

}  // namespace parley::launch
