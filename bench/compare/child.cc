#include "bench/compare/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "bench/stopwatch.h"

namespace parley::bench::compare {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::size_t kept_bytes = 4096;
constexpr int tick_ms = 500;
constexpr double grace_seconds = 3;
constexpr int exit_not_executed = 127;
constexpr std::array<int, 3> ending_signals = {SIGINT, SIGTERM, SIGHUP};

std::atomic<int> signal_seen{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

extern "C" void note_signal(int signal) {
  int none = 0;
  // relaxed: it orders nothing, the handler runs in a thread of this program.
  signal_seen.compare_exchange_strong(none, signal, std::memory_order_relaxed);
}

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe2");
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    ::close(ends_[0]);
    close_write_end();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int read_end() const noexcept { return open_ ? ends_[0] : -1; }
  [[nodiscard]] int write_end() const noexcept { return ends_[1]; }
  void close_write_end() noexcept {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }
  // Keeps the end of what has come.
  void drain(std::string& text) {
    std::array<char, 4096> bytes{};
    ssize_t count = 0;
    while ((count = ::read(ends_[0], bytes.data(), bytes.size())) > 0) {
      text.append(bytes.data(), static_cast<std::size_t>(count));
      if (text.size() > kept_bytes) text.erase(0, text.size() - kept_bytes);
    }
    if (count == 0) open_ = false;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
  bool open_ = true;
};

// Between fork() and exec() only what a signal handler may do.
[[noreturn]] void become(char* const* words, char* const* environment, int output, int said, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // It may have died before.
  if (::getppid() != parent) ::_exit(exit_not_executed);
  for (const int signal : ending_signals) ::signal(signal, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, 0);
  ::dup2(output, 1);
  ::dup2(said, 2);
  ::execvpe(words[0], words, environment);
  ::_exit(exit_not_executed);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// This program's, but the child belongs to no launcher's world.
std::vector<std::string> environment_of_child() {
  std::vector<std::string> variables;
  for (char** one = ::environ; *one != nullptr; ++one) {
    const std::string_view variable = *one;
    if (variable.starts_with("RANK=") || variable.starts_with("WORLD_SIZE=")) continue;
    variables.emplace_back(variable);
  }
  return variables;
}

// A started child: what it says, and its end.
class Child {
 public:
  explicit Child(std::vector<std::string> command) {
    std::vector<std::string> variables = environment_of_child();
    const std::vector<char*> words = pointers(command);
    const std::vector<char*> environment = pointers(variables);
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (process_ == 0)
      become(words.data(), environment.data(), output_.write_end(), said_.write_end(), parent);
    // Also here, for whoever comes first.
    ::setpgid(process_, process_);
    output_.close_write_end();
    said_.close_write_end();
    handle_ = static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));
    if (handle_ >= 0) return;
    signal_group(SIGKILL);
    ::waitpid(process_, nullptr, 0);
    throw std::system_error(errno, std::generic_category(), "pidfd_open");
  }
  ~Child() {
    // What it has left behind, if anything.
    signal_group(SIGKILL);
    ::close(handle_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void signal_group(int signal) const noexcept { ::kill(-process_, signal); }

  // Waits for at most a tick; whether it has ended.
  bool wait(ChildEnd& end) {
    std::array<pollfd, 3> fds{
        {{handle_, POLLIN, 0}, {output_.read_end(), POLLIN, 0}, {said_.read_end(), POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), tick_ms);
    output_.drain(end.output);
    said_.drain(end.said);
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) != process_) return false;
    output_.drain(end.output);
    said_.drain(end.said);
    end.how = WIFEXITED(status) ? ChildEnd::How::exited : ChildEnd::How::killed;
    end.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    return true;
  }

 private:
  Pipe output_;
  Pipe said_;
  pid_t process_ = -1;
  int handle_ = -1;
};

// Asks, waits, insists.
void end_group(Child& child, ChildEnd& end) {
  child.signal_group(SIGTERM);
  const Stopwatch watch;
  while (!child.wait(end)) {
    if (watch.elapsed_us() > grace_seconds * 1e6) child.signal_group(SIGKILL);
  }
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& command, Seconds deadline,
                   const std::function<void()>& tick) {
  ChildEnd end;
  if (::access(command.front().c_str(), X_OK) != 0) {
    end.how = ChildEnd::How::not_started;
    end.said = command.front() + ": " + std::generic_category().message(errno);
    return end;
  }
  const Stopwatch watch;
  const auto elapsed_seconds = [&] { return watch.elapsed_us() / 1e6; };
  Child child(command);
  bool ended = false;
  while (!ended && SignalWatch::seen() == 0 && elapsed_seconds() < deadline.count()) {
    ended = child.wait(end);
    if (tick) tick();
  }
  if (!ended) {
    const bool is_late = SignalWatch::seen() == 0;
    end_group(child, end);
    end.how = is_late ? ChildEnd::How::too_late : ChildEnd::How::interrupted;
  }
  end.seconds = elapsed_seconds();
  return end;
}

SignalWatch::SignalWatch() {
  signal_seen.store(0, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = note_signal;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : ending_signals) ::sigaction(signal, &action, nullptr);
}

SignalWatch::~SignalWatch() {
  for (const int signal : ending_signals) ::signal(signal, SIG_DFL);
  signal_seen.store(0, std::memory_order_relaxed);
}

int SignalWatch::seen() noexcept {
  return signal_seen.load(std::memory_order_relaxed);
}

std::string last_words(const std::string& said) {
  const std::size_t end = said.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  const std::size_t line = said.find_last_of('\n', end);
  return said.substr(line == std::string::npos ? 0 : line + 1,
                     end - (line == std::string::npos ? 0 : line + 1) + 1);
}

}  // namespace parley::bench::compare
