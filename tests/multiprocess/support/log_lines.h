#pragma once

#include <parley/log.h>

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace parley::testing {

struct LogLine {
  LogLevel level;
  std::string subsystem;
  std::string message;
  int rank;
  std::chrono::nanoseconds at;  // CLOCK_MONOTONIC
};

// Takes all log lines of this process while it lives. Thread-safety: safe.
class LogLines {
 public:
  LogLines();
  ~LogLines();
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  // Those that contain `part`, in order.
  [[nodiscard]] std::vector<LogLine> with(std::string_view part) const;

 private:
  mutable std::mutex mutex_;
  std::vector<LogLine> lines_;
};

}  // namespace parley::testing
