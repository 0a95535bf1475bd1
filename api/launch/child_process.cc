#include "api/launch/child_process.h"

#include <fcntl.h>
#include <parley/error.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "api/launch/execution.h"
#include "api/launch/pipe.h"
#include "api/launch/signal_mask.h"
#include "transport/base/log.h"

namespace parley::launch {

// The pipes of one rank, both ends, as they are between pipe2 and fork. The first is that of its beginning or
// of its arrival.
struct ChildProcess::Pipes {
  Pipe sign = make_pipe();
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
};

namespace {

constexpr int unknown_exit_code = 255;

void die_with(pid_t launcher) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The launcher may have died before the line above; then no signal will come.
  if (getppid() != launcher) _exit(1);
}

// Standard input, output and error of a rank.
void redirect(bool inherits_input, int output, int errors) noexcept {
  if (!inherits_input) {
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null > 0) {
      dup2(null, STDIN_FILENO);
      close(null);
    } else if (null == STDIN_FILENO) {
      fcntl(null, F_SETFD, 0);  // it was closed, so it is the right one already; keep it over exec
    }
  }
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
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

// Async-signal-safe.
void take_place(const ChildPlace& place, pid_t launcher, int output, int errors) noexcept {
  die_with(launcher);
  if (place.group != 0) setpgid(0, place.group);
  redirect(place.inherits_input, output, errors);
}

std::uint64_t inode_of(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) throw_system_error("cannot look at a pipe");
  return info.st_ino;
}

}  // namespace

// noexcept: nothing may unwind into the copy of the launcher's stack.
void ChildProcess::run_child(const ChildPlan& plan, pid_t launcher, Pipes& pipes) noexcept {
  take_place(plan.place, launcher, pipes.output.write.get(), pipes.errors.write.get());
  plan.forget_launcher();
  pipes.sign.write.reset();
  const std::optional<Environment> environment = decode(read_to_end(pipes.sign.read.get()));
  if (!environment) _exit(1);
  apply(*environment);
  if (environment->contains("PARLEY_DEBUG") || environment->contains("PARLEY_DEBUG_SUBSYS"))
    base::read_log_environment_again();
  pipes = Pipes{Pipe{}, Pipe{}, Pipe{}};  // closes what dup2 has copied
  _exit(plan.body());
}

ChildProcess ChildProcess::start(const ChildPlan& plan) {
  Pipes pipes;
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw_system_error("cannot start a process");
  if (pid == 0) run_child(plan, launcher, pipes);
  ChildProcess child(pid, pipes);
  child.begin_ = std::move(pipes.sign.write);
  return child;
}

ChildProcess ChildProcess::execute(ExecutionPlan plan) {
  Pipes pipes;
  const pid_t launcher = getpid();
  const int arrival = pipes.sign.write.get();
  plan.order.launcher = launcher;
  plan.order.arrival = {arrival, inode_of(arrival)};
  plan.environment[spawn_order_variable] = encode(plan.order);
  const Execution execution(plan.program, plan.environment);

  const BlockedSignals blocked;
  const pid_t pid = fork();
  if (pid < 0) throw_system_error("cannot start a process");
  if (pid == 0) {
    // Nothing that is not async-signal-safe until exec: this process's other threads are not here.
    take_place(plan.place, launcher, pipes.output.write.get(), pipes.errors.write.get());
    fcntl(arrival, F_SETFD, 0);  // the only one of all these to be kept over exec
    blocked.end_before_exec();
    execution.begin();
  }
  ChildProcess child(pid, pipes);
  child.arrival_ = std::move(pipes.sign.read);
  fcntl(child.arrival_.get(), F_SETFL, O_NONBLOCK);
  return child;
}

ChildProcess::ChildProcess(pid_t pid, Pipes& pipes)
    : pid_(pid), output_(std::move(pipes.output.read)), errors_(std::move(pipes.errors.read)) {
  // By number: the wrapper of glibc 2.36 cannot be linked from C++.
  end_fd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  // Only the reading end: the rank's own writes stay blocking.
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  fcntl(errors_.get(), F_SETFL, O_NONBLOCK);
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
  ExitStatus how = reaped == pid_ ? ExitStatus::from_wait_status(status) : ExitStatus{unknown_exit_code, 0};
  char byte = 0;
  how.never_came = arrival_ && read(arrival_.get(), &byte, 1) != 1;
  return how;
}

void ChildProcess::reap() noexcept {
  if (ended_) return;
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  ended_ = true;
}

void ChildProcess::send_signal(int signal_number) const noexcept {
  if (!ended_) kill(pid_, signal_number);
}

void require_exit_statuses() {
  struct sigaction action {};
  sigaction(SIGCHLD, nullptr, &action);
  if (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0)
    throw UsageError("this process ignores SIGCHLD, so no exit status of its children can be had");
}

}  // namespace parley::launch
