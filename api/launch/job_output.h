#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "api/launch/line_pump.h"
#include "api/launch/output_queue.h"
#include "api/launch/poll_set.h"
#include "transport/base/unique_fd.h"

namespace parley::launch {

struct OutputOptions {
  bool prefix = true;        // "[rank] " before every line, coloured on a terminal unless NO_COLOR is set
  std::string log_dir = {};  // made if absent; empty: no log files
  int output_fd = 1;         // where the ranks' standard output goes
  int error_fd = 2;          // where their standard error and the launcher's own words go
};

// All output of a job. Lines of different ranks never mix: they meet in one queue for each file of the
// launcher (one in all when standard output and standard error are the same file). Thread-safety: none.
class JobOutput {
 public:
  // Throws SystemError when the log directory cannot be made.
  explicit JobOutput(const OutputOptions& options);

  // What the first rank to be added is called; the next one's number is one higher. 0 at first.
  void number_from(int first_rank) noexcept { first_rank_ = static_cast<std::size_t>(first_rank); }
  // Throws SystemError when a log file cannot be made.
  void add_rank(base::UniqueFd output, base::UniqueFd errors);

  void watch(PollSet& set);
  void serve(const PollSet& set);
  // All ranks have ended: takes what their pipes still hold.
  void drain();
  // Whether everything has been written.
  [[nodiscard]] bool flushed() const noexcept;

  // The launcher's own words, whole lines, on standard error.
  void say(std::string_view lines) { errors().pending() += lines; }
  // What the rank that was added so many others later than the first has written to standard error last: at
  // most `count` lines.
  [[nodiscard]] std::string last_error_lines(int place, std::size_t count) const;
  // One line for each log file that is incomplete.
  [[nodiscard]] std::string log_complaints() const;

 private:
  struct Rank {
    LinePump output;
    LinePump errors;
  };
  OutputQueue& errors() noexcept { return separate_errors_ ? *separate_errors_ : output_; }
  [[nodiscard]] std::string prefix(std::size_t rank, int fd) const;
  [[nodiscard]] base::UniqueFd open_log(std::size_t rank, const char* suffix) const;

  OutputOptions options_;
  OutputQueue output_;
  std::optional<OutputQueue> separate_errors_;
  std::size_t first_rank_ = 0;
  std::deque<Rank> ranks_;
};

}  // namespace parley::launch
