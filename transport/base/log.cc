#include "transport/base/log.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "transport/base/env.h"
#include "transport/base/log_filter.h"

namespace parley {
namespace {

constexpr int unread = -1;

// The lowest level that is logged, or `unread`: then the environment was not asked yet.
constinit std::atomic<int> threshold{unread};
constinit std::atomic<int> process_rank{-1};
constinit std::atomic<bool> subsystems_checked{false};
thread_local constinit int thread_rank = -1;
thread_local constinit bool inside_sink = false;

// Never destroyed: destructors of other static objects may still log.
struct SinkSlot {
  std::mutex mutex;
  LogSink sink;
};
SinkSlot& sink_slot() {
  static SinkSlot& slot = *new SinkSlot;
  return slot;
}

base::SubsystemFilter read_filter() {
  return base::SubsystemFilter(base::env_string("PARLEY_DEBUG_SUBSYS").value_or(""));
}

base::SubsystemFilter& subsystem_filter() {
  static auto& filter = *new base::SubsystemFilter(read_filter());
  return filter;
}

const char* level_name(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::error: return "error";
    case LogLevel::warn: return "warn";
    case LogLevel::info: return "info";
    case LogLevel::debug: return "debug";
  }
  return "unknown";
}

std::optional<LogLevel> parse_level(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  for (const auto level : {LogLevel::error, LogLevel::warn, LogLevel::info, LogLevel::debug})
    if (text == level_name(level)) return level;
  return std::nullopt;
}

// Asks the environment. Of several threads the one whose exchange succeeds complains about a bad value.
int read_threshold() {
  const auto text = base::env_string("PARLEY_DEBUG");
  const auto level = text ? parse_level(*text) : LogLevel::warn;
  int seen = unread;
  // relaxed: the number stands for itself, nothing else is published with it.
  const bool first = threshold.compare_exchange_strong(seen, static_cast<int>(level.value_or(LogLevel::warn)),
                                                       std::memory_order_relaxed);
  if (first && !level)
    base::log_line(LogLevel::warn, "env",
                   base::concat("PARLEY_DEBUG=", *text, " is not a level: write error, warn, info or debug"));
  return threshold.load(std::memory_order_relaxed);
}

// Keeps a write to a closed pipe from killing the process: blocks SIGPIPE in this thread and takes back the
// one that the write caused.
class SigpipeGuard {
 public:
  SigpipeGuard() noexcept {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~SigpipeGuard() {
    const timespec no_wait{};
    if (caused_ && !was_pending_)
      while (sigtimedwait(&sigpipe_, nullptr, &no_wait) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;
  void caused() noexcept { caused_ = true; }

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
  bool caused_ = false;
};

void write_to_stderr(std::string_view line) noexcept {
  SigpipeGuard guard;
  while (!line.empty()) {
    const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) guard.caused();
    if (written <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Returns whether a sink took the line. A line that a sink itself logs goes to stderr: its lock is held.
bool offer_to_sink(const LogRecord& record) {
  if (inside_sink) return false;
  auto& slot = sink_slot();
  const std::lock_guard lock(slot.mutex);
  if (!slot.sink) return false;
  inside_sink = true;
  try {
    slot.sink(record);
  } catch (...) {
    inside_sink = false;
    return false;
  }
  inside_sink = false;
  return true;
}

std::string printable(std::string_view message) {
  std::string text(message);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; },
      '?');
  return text;
}

void write_line(LogLevel level, std::string_view subsystem, std::string_view message) {
  // relaxed: a line logged while the rank is being set may show either.
  const int rank = thread_rank >= 0 ? thread_rank : process_rank.load(std::memory_order_relaxed);
  const std::string text = printable(message);
  if (offer_to_sink({level, subsystem, text, rank})) return;
  const std::string who = rank >= 0 ? base::concat("rank ", rank) : base::concat("pid ", ::getpid());
  write_to_stderr(base::concat("parley[", who, "] ", level_name(level), ' ', subsystem, ": ", text, '\n'));
}

}  // namespace

void set_log_sink(LogSink sink) {
  auto& slot = sink_slot();
  const std::lock_guard lock(slot.mutex);
  std::swap(slot.sink, sink);
}

void set_log_level(LogLevel level) noexcept {
  // relaxed: see read_threshold().
  threshold.store(static_cast<int>(level), std::memory_order_relaxed);
}

namespace base {

void read_log_environment_again() {
  threshold.store(unread, std::memory_order_relaxed);  // relaxed: one thread
  subsystem_filter() = read_filter();
  subsystems_checked.store(false, std::memory_order_relaxed);
}

void check_log_environment() {
  // relaxed: see read_threshold(); the flag guards no other data.
  if (threshold.load(std::memory_order_relaxed) == unread) read_threshold();
  if (subsystems_checked.exchange(true, std::memory_order_relaxed)) return;
  std::string known;
  for (const std::string_view name : known_subsystems()) known += concat(known.empty() ? "" : ", ", name);
  for (const std::string& name : subsystem_filter().unknown())
    PARLEY_LOG(warn, "env", "PARLEY_DEBUG_SUBSYS: there is no subsystem '", name, "'; known: ", known);
}

bool log_enabled(LogLevel level, std::string_view subsystem) noexcept {
  // relaxed: see read_threshold().
  const int limit = threshold.load(std::memory_order_relaxed);
  if (limit != unread && static_cast<int>(level) > limit) return false;
  try {
    if (limit == unread && static_cast<int>(level) > read_threshold()) return false;
    return subsystem_filter().admits(level, subsystem);
  } catch (...) {
    return false;  // no memory to read the settings with
  }
}

void log_line(LogLevel level, std::string_view subsystem, std::string_view message) noexcept {
  const int saved = errno;
  try {
    write_line(level, subsystem, message);
  } catch (...) {
    // No memory for the line: it is lost.
  }
  errno = saved;
}

void set_log_rank(int rank) noexcept {
  // relaxed: see write_line().
  process_rank.store(rank, std::memory_order_relaxed);
}

void set_thread_log_rank(int rank) noexcept {
  thread_rank = rank;
}

bool LogThrottle::admit(long& suppressed) noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const long long now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  // relaxed: the exchange alone decides who writes; the count is a number for people.
  long long next = next_ns_.load(std::memory_order_relaxed);
  const long long after = period_ns_ > std::numeric_limits<long long>::max() - now_ns
                              ? std::numeric_limits<long long>::max()
                              : now_ns + period_ns_;
  if (now_ns < next || !next_ns_.compare_exchange_strong(next, after, std::memory_order_relaxed)) {
    suppressed_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  suppressed = suppressed_.exchange(0, std::memory_order_relaxed);
  return true;
}

}  // namespace base
}  // namespace parley
