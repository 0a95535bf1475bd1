#pragma once

#include <parley/log.h>

#include <string>
#include <string_view>
#include <vector>

namespace parley::base {

// What PARLEY_DEBUG_SUBSYS selects: names separated by commas, each with "^" before it to exclude it.
//   ""          everything
//   "tcp,store" info and debug lines of these two only; warnings and errors of all, for nobody wants to miss
//   them
//   "^env"      everything but env, whose warnings and errors are hidden too
//   "all"       everything; useful as "all,^tcp"
// Thread-safety: immutable.
class SubsystemFilter {
 public:
  explicit SubsystemFilter(std::string_view text);
  [[nodiscard]] bool admits(LogLevel level, std::string_view subsystem) const noexcept;

 private:
  std::vector<std::string> included_;  // empty: all
  std::vector<std::string> excluded_;
};

}  // namespace parley::base
