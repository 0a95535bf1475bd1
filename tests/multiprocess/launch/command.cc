#include "tests/multiprocess/launch/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "api/launch/exit_status.h"
#include "api/launch/pipe.h"

namespace parley::launch::testing {
namespace {

constexpr std::chrono::seconds longest_farewell{20};
constexpr std::chrono::milliseconds poll_interval{5};

// What the command gets as its standard descriptors.
struct Ends {
  int input;
  int output;
  int errors;
};

void take(const Ends& ends, bool terminal) noexcept {
  dup2(ends.input, STDIN_FILENO);
  dup2(ends.output, STDOUT_FILENO);
  dup2(ends.errors, STDERR_FILENO);
  if (!terminal) {
    setpgid(0, 0);
  } else {
    setsid();
    ioctl(STDIN_FILENO, TIOCSCTTY, 0);
  }
}

[[noreturn]] void become(const std::vector<std::string>& arguments, const CommandOptions& options,
                         const Ends& ends) {
  take(ends, options.terminal);
  // A test runner may have these ignored, and a launcher would then leave them so.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, SIG_DFL);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  _exit(99);
}

// A terminal: `read` is the side of the person, `write` that of the program.
Pipe make_terminal() {
  Pipe terminal;
  terminal.read.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.read || grantpt(terminal.read.get()) != 0 || unlockpt(terminal.read.get()) != 0)
    throw_system_error("no terminal");
  terminal.write.reset(open(ptsname(terminal.read.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  return terminal;
}

// Appends what is there; false at the end of the stream.
bool append_from(base::UniqueFd& fd, std::string& text) {
  std::array<char, 65536> buffer;  // NOLINT(*-member-init): read(2) fills it
  const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
  if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  // A terminal whose other side is closed says EIO.
  const bool at_end = got == 0 || (got < 0 && errno == EIO);
  if (at_end) fd.reset();
  return !at_end;
}

template <typename Condition>
bool poll_until(const Condition& condition) {
  const auto deadline = base::Deadline::after(longest_farewell);
  while (!condition()) {
    if (deadline.expired()) return false;
    std::this_thread::sleep_for(poll_interval);
  }
  return true;
}

// From the mask of signals that are pending for the process as a whole.
bool is_pending(pid_t pid, int signal_number) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("ShdPnd:")) continue;
    return (std::strtoull(line.c_str() + 7, nullptr, 16) >> (signal_number - 1) & 1) != 0;
  }
  return false;
}

}  // namespace

Command::Command(const std::vector<std::string>& arguments, const CommandOptions& options)
    : limit_(base::Deadline::after(options.limit)) {
  Pipe input = make_pipe();
  Pipe output = options.terminal ? make_terminal() : make_pipe();
  Pipe errors = make_pipe();
  Ends ends{input.read.get(), output.write.get(), errors.write.get()};
  if (options.errors_to_output || options.terminal) ends.errors = ends.output;
  if (options.terminal) ends.input = ends.output;
  pid_ = fork();
  if (pid_ == 0) become(arguments, options, ends);
  if (!options.terminal) setpgid(pid_, pid_);
  (void)write_quietly(input.write.get(), options.input);
  if (options.terminal) input_fd_.reset(fcntl(output.read.get(), F_DUPFD_CLOEXEC, 3));
  output_fd_ = std::move(output.read);
  errors_fd_ = std::move(errors.read);
  if (!options.reads_output) std::swap(output_fd_, unread_fd_);
}

Command::~Command() {
  if (ended_) return;
  kill(-pid_, SIGKILL);
  wait_for_end();
}

void Command::send_signal(int signal_number) const noexcept {
  kill(pid_, signal_number);
}

void Command::type(const std::string& text) const {
  (void)write_quietly(input_fd_.get(), text);
}

bool Command::await_output(const std::string& text, std::size_t count) {
  while (count_of(output_, text) < count && read_more()) continue;
  return count_of(output_, text) >= count;
}

bool Command::await_errors(const std::string& text, std::size_t count) {
  while (count_of(errors_, text) < count && read_more()) continue;
  return count_of(errors_, text) >= count;
}

int Command::finish() {
  while (read_more()) continue;
  if (limit_.expired()) {
    kill(-pid_, SIGKILL);
    wait_for_end();
    return had_to_be_killed;
  }
  return wait_for_end();
}

// One poll; false when both streams have ended or the limit has passed.
bool Command::read_more() {
  if ((!output_fd_ && !errors_fd_) || limit_.expired()) return false;
  std::array<pollfd, 2> entries{pollfd{output_fd_.get(), POLLIN, 0}, pollfd{errors_fd_.get(), POLLIN, 0}};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit_.remaining());
  if (poll(entries.data(), entries.size(), static_cast<int>(left.count()) + 1) < 0) return true;
  if (entries[0].revents != 0) append_from(output_fd_, output_);
  if (entries[1].revents != 0) append_from(errors_fd_, errors_);
  return true;
}

int Command::wait_for_end() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  ended_ = true;
  return ExitStatus::from_wait_status(status).shell_code();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string sorted_lines(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  std::sort(lines.begin(), lines.end());
  std::string joined;
  for (const std::string& line : lines) joined += line + '\n';
  return joined;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

std::vector<pid_t> numbers_after(const std::string& text, const std::string& label) {
  std::vector<pid_t> numbers;
  for (std::size_t at = text.find(label); at != std::string::npos; at = text.find(label, at + 1))
    numbers.push_back(static_cast<pid_t>(std::atol(text.c_str() + at + label.size())));
  return numbers;
}

bool is_running(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return false;
  const std::size_t state = text.rfind(')');  // the name before it may hold anything
  return state != std::string::npos && text.size() > state + 2 && text[state + 2] != 'Z' &&
         text[state + 2] != 'X';
}

bool signal_is_taken(pid_t pid, int signal_number) {
  return poll_until([&] { return !is_pending(pid, signal_number); });
}

bool all_end(const std::vector<pid_t>& pids) {
  return poll_until([&] { return std::none_of(pids.begin(), pids.end(), is_running); });
}

}  // namespace parley::launch::testing
