#pragma once

#include <cstddef>
#include <string>

#include "api/launch/line_formatter.h"
#include "api/launch/output_queue.h"
#include "api/launch/poll_set.h"
#include "transport/base/unique_fd.h"

namespace parley::launch {

// Carries one output stream of one rank: reads its pipe, writes the raw bytes to a log file if there is one,
// puts whole lines into the launcher's queue and remembers the last ones. Thread-safety: none.
class LinePump {
 public:
  // `queue` must outlive the pump. `log` may be empty.
  LinePump(base::UniqueFd source, std::string prefix, OutputQueue& queue, base::UniqueFd log);

  // Watches the pipe unless the queue is full: then the rank waits, as it would for any slow reader.
  void watch(PollSet& set);
  void serve(const PollSet& set);
  // Takes what the pipe holds now, and ends. For a rank that has ended; something that still holds its pipe
  // cannot keep the launcher.
  void drain();

  // The last lines, at most `count`, joined with newlines.
  [[nodiscard]] std::string last_lines(std::size_t count) const;
  // Why the log file does not hold everything; empty if it does.
  [[nodiscard]] const std::string& log_error() const noexcept { return log_error_; }

 private:
  enum class Got { bytes, nothing, end };
  Got read_once();
  void write_log(std::string_view bytes);
  void end();

  base::UniqueFd source_;
  base::UniqueFd log_;
  LineFormatter formatter_;
  OutputQueue* queue_;
  std::string tail_;       // the newest bytes, raw
  std::string log_error_;  // why the log file is incomplete
  std::size_t place_ = 0;
  bool watched_ = false;
};

// The last `count` lines of a text, each cut to `width_bytes`, joined with newlines.
std::string last_lines_of(std::string_view text, std::size_t count, std::size_t width_bytes);

}  // namespace parley::launch
