#include "api/launch/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "api/launch/pipe.h"
#include "transport/base/log.h"

namespace parley::launch {
namespace {

constexpr int unknown_exit_code = 255;

// The pipes of one rank, both ends, as they are between pipe2 and fork.
struct Pipes {
  Pipe begin = make_pipe();
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
};

void die_with(pid_t launcher) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The launcher may have died before the line above; then no signal will come.
  if (getppid() != launcher) _exit(1);
}

void redirect(const ChildPlan& plan, const Pipes& pipes) noexcept {
  if (!plan.inherits_input) {
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null > 0) {
      dup2(null, STDIN_FILENO);
      close(null);
    } else if (null == STDIN_FILENO) {
      fcntl(null, F_SETFD, 0);  // it was closed, so it is the right one already; keep it over exec
    }
  }
  dup2(pipes.output.write.get(), STDOUT_FILENO);
  dup2(pipes.errors.write.get(), STDERR_FILENO);
}

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t got = read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

// noexcept: nothing may unwind into the copy of the launcher's stack.
[[noreturn]] void run_child(const ChildPlan& plan, pid_t launcher, Pipes& pipes) noexcept {
  die_with(launcher);
  if (plan.group != 0) setpgid(0, plan.group);
  plan.forget_launcher();
  redirect(plan, pipes);
  pipes.begin.write.reset();
  const std::optional<Environment> environment = decode(read_to_end(pipes.begin.read.get()));
  if (!environment) _exit(1);
  apply(*environment);
  if (environment->contains("PARLEY_DEBUG") || environment->contains("PARLEY_DEBUG_SUBSYS"))
    base::read_log_environment_again();
  pipes = Pipes{Pipe{}, Pipe{}, Pipe{}};  // closes what dup2 has copied
  _exit(plan.body());
}

}  // namespace

ChildProcess ChildProcess::start(const ChildPlan& plan) {
  Pipes pipes;
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw_system_error("cannot start a process");
  if (pid == 0) run_child(plan, launcher, pipes);

  ChildProcess child;
  child.pid_ = pid;
  child.begin_ = std::move(pipes.begin.write);
  child.output_ = std::move(pipes.output.read);
  child.errors_ = std::move(pipes.errors.read);
  // By number: the wrapper of glibc 2.36 cannot be linked from C++.
  child.end_fd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  // Only the reading end: the rank's own writes stay blocking.
  fcntl(child.output_.get(), F_SETFL, O_NONBLOCK);
  fcntl(child.errors_.get(), F_SETFL, O_NONBLOCK);
  return child;
}

void ChildProcess::begin(const Environment& environment) noexcept {
  const std::string text = encode(environment);
  for (std::string_view left = text; !left.empty();) {
    const ssize_t written = write_quietly(begin_.get(), left);
    if (written < 0) break;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  begin_.reset();
}

std::optional<ExitStatus> ChildProcess::try_reap() noexcept {
  if (ended_) return std::nullopt;
  int status = 0;
  const pid_t reaped = waitpid(pid_, &status, WNOHANG);
  if (reaped == 0) return std::nullopt;
  ended_ = true;
  end_fd_.reset();
  // ECHILD: a handler of the program has taken the status; nobody can tell it any more.
  return reaped == pid_ ? ExitStatus::from_wait_status(status) : ExitStatus{unknown_exit_code, 0};
}

void ChildProcess::reap() noexcept {
  if (ended_) return;
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  ended_ = true;
}

void ChildProcess::send_signal(int signal_number) const noexcept {
  if (!ended_) kill(pid_, signal_number);
}

}  // namespace parley::launch
