#include "tests/multiprocess/support/log_lines.h"

#include "tests/multiprocess/support/await.h"

namespace parley::testing {

LogLines::LogLines() {
  set_log_sink([this](const LogRecord& record) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(
        {record.level, std::string(record.subsystem), std::string(record.message), record.rank, now()});
  });
}

LogLines::~LogLines() {
  set_log_sink({});
}

std::vector<LogLine> LogLines::with(std::string_view part) const {
  const std::lock_guard lock(mutex_);
  std::vector<LogLine> found;
  for (const LogLine& line : lines_)
    if (line.message.find(part) != std::string::npos) found.push_back(line);
  return found;
}

}  // namespace parley::testing
