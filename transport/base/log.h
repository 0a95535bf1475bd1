#pragma once

#include <parley/log.h>

#include <atomic>
#include <chrono>
#include <new>
#include <string>
#include <string_view>

// PARLEY_LOG(warn, "tcp", "link to ", peer, " closed"): the arguments are evaluated only when the level is
// on. Without memory for them the line is dropped: what ends or fails does not wait for words.
#define PARLEY_LOG(level_name, subsystem, ...)                                        \
  do {                                                                                \
    if (::parley::base::log_enabled(::parley::LogLevel::level_name, subsystem)) try { \
        ::parley::base::log_line(::parley::LogLevel::level_name, subsystem,           \
                                 ::parley::base::concat(__VA_ARGS__));                \
      } catch (const ::std::bad_alloc&) { /* dropped */                               \
      }                                                                               \
  } while (false)

namespace parley::base {

// For a forked child that was given PARLEY_DEBUG or PARLEY_DEBUG_SUBSYS. REQUIRES: one thread.
void read_log_environment_again();

// Reads PARLEY_DEBUG and PARLEY_DEBUG_SUBSYS, if nothing was logged yet, and warns once about what they say
// and nobody understands.
void check_log_environment();

// Whether a line of this level and subsystem would be written. Cost when off: one relaxed load.
bool log_enabled(LogLevel level, std::string_view subsystem) noexcept;

// Writes one line to the sink, or to stderr in one write(2) call. Never throws, keeps errno, raises no
// SIGPIPE; what cannot be written is dropped. Control characters in the message become '?', so that bytes
// from a stranger cannot forge a line.
void log_line(LogLevel level, std::string_view subsystem, std::string_view message) noexcept;

// The rank of this process, which precedes every line; -1 (unknown) at first, then the process id is shown.
void set_log_rank(int rank) noexcept;

// The same for the calling thread alone, for processes that run one rank per thread (tests); -1 goes back to
// the rank of the process.
void set_thread_log_rank(int rank) noexcept;

// The parts as one string: anything that converts to string_view, characters, and numbers.
template <typename... Parts>
std::string concat(const Parts&... parts);

// Allows one line per period and counts what it held back. Thread-safety: safe.
class LogThrottle {
 public:
  LogThrottle() noexcept : LogThrottle(std::chrono::seconds(1)) {}
  explicit LogThrottle(std::chrono::nanoseconds period) noexcept : period_ns_(period.count()) {}

  // Whether a line may be written now; `suppressed` is how many were not since the last one.
  bool admit(long& suppressed) noexcept;

 private:
  const long long period_ns_;
  std::atomic<long long> next_ns_{0};
  std::atomic<long> suppressed_{0};
};

namespace detail {
inline void append(std::string& out, std::string_view part) {
  out += part;
}
inline void append(std::string& out, const char* part) {
  out += part;
}
inline void append(std::string& out, const std::string& part) {
  out += part;
}
inline void append(std::string& out, char part) {
  out += part;
}
template <typename Number>
void append(std::string& out, Number part) {
  out += std::to_string(part);
}
}  // namespace detail

template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

}  // namespace parley::base
