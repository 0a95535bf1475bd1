#pragma once

#include <parley/log.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parley::base {

// The subsystems that log, in alphabetical order.
std::span<const std::string_view> known_subsystems() noexcept;

// What PARLEY_DEBUG_SUBSYS selects: names separated by commas, each with "^" before it to exclude it.
//   ""          everything
//   "socket,store" info and debug lines of these two only; warnings and errors of all, for nobody wants to
//   miss them
//   "^env"      everything but env, whose warnings and errors are hidden too
//   "all"       everything; useful as "all,^socket"
// Thread-safety: immutable.
class SubsystemFilter {
 public:
  explicit SubsystemFilter(std::string_view text);
  [[nodiscard]] bool admits(LogLevel level, std::string_view subsystem) const noexcept;
  // The names that select nothing, for there is no such subsystem.
  [[nodiscard]] std::vector<std::string> unknown() const;

 private:
  std::vector<std::string> included_;  // empty: all
  std::vector<std::string> excluded_;
};

}  // namespace parley::base
