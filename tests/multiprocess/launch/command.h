#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/unique_fd.h"

namespace parley::launch::testing {

struct CommandOptions {
  std::map<std::string, std::string> environment = {};  // on top of the test's own
  // The three standard descriptors are a terminal, which also sends signals; all output is in output().
  bool terminal = false;
  bool errors_to_output = false;  // as 2>&1 does
  bool reads_output = true;       // false: a reader that never reads standard output
  std::string input = {};         // standard input, at most what a pipe holds
  // After this time the command is killed; it is there for hangs only.
  std::chrono::seconds limit{120};
};

// A program that the test has started, in a process group of its own so that nothing of it outlives a failed
// test. Not for threads.
class Command {
 public:
  explicit Command(const std::vector<std::string>& arguments, const CommandOptions& options = {});
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void send_signal(int signal_number) const noexcept;

  // Types at the terminal.
  void type(const std::string& text) const;

  // Reads until standard output, or standard error, holds `count` times `text`. False at the limit or the
  // end.
  bool await_output(const std::string& text, std::size_t count = 1);
  bool await_errors(const std::string& text, std::size_t count = 1);

  // Reads to the end and waits; the exit code as a shell has it. 124 + 1000 when it had to be killed.
  int finish();

  // What has been read so far.
  [[nodiscard]] const std::string& output() const noexcept { return output_; }
  [[nodiscard]] const std::string& errors() const noexcept { return errors_; }

 private:
  bool read_more();
  int wait_for_end();

  base::Deadline limit_;
  pid_t pid_ = 0;
  bool ended_ = false;
  base::UniqueFd output_fd_;
  base::UniqueFd errors_fd_;
  base::UniqueFd unread_fd_;
  base::UniqueFd input_fd_;
  std::string output_;
  std::string errors_;
};

inline constexpr int had_to_be_killed = 1124;

// The lines of a text, without their newlines; sorted_lines puts them in order and ends each with a newline.
std::vector<std::string> lines_of(const std::string& text);
std::string sorted_lines(const std::string& text);

// How often `part` occurs.
std::size_t count_of(const std::string& text, const std::string& part);

// The numbers that follow `label` in a text: all N of "pid=N".
std::vector<pid_t> numbers_after(const std::string& text, const std::string& label);

// Whether a process runs: neither gone nor a zombie.
bool is_running(pid_t pid);
// Polls until a signal that was sent to the process is no longer pending; false after 20 s.
bool signal_is_taken(pid_t pid, int signal_number);
// Polls until none of them runs; false after 20 s.
bool all_end(const std::vector<pid_t>& pids);

}  // namespace parley::launch::testing
