#pragma once

#include <parley/export.h>

#include <functional>
#include <string_view>

namespace parley {

// Severity of a log line. PARLEY_DEBUG=error|warn|info|debug selects the lowest one printed; default warn.
enum class LogLevel : unsigned char { error, warn, info, debug };

// One line, without a newline. The views are valid during the call only.
struct LogRecord {
  LogLevel level;
  std::string_view subsystem;  // "engine", "env", "init", "p2p", "socket" or "store"
  std::string_view message;
  int rank;  // -1 before the rank is known
};

using LogSink = std::function<void(const LogRecord&)>;

// Sends all log lines to `sink` instead of stderr; an empty sink restores stderr.
// Thread-safety: safe at any time. The sink may be called from any thread, one call at a time, and must not
// call Parley.
PARLEY_API void set_log_sink(LogSink sink);

// Overrides PARLEY_DEBUG.
PARLEY_API void set_log_level(LogLevel level) noexcept;

}  // namespace parley
