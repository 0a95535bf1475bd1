#include "api/launch/pipe.h"

#include <fcntl.h>
#include <parley/error.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>

namespace parley::launch {
namespace {

constexpr int first_free_descriptor = 3;

// A process may have been started with 0, 1 or 2 closed; then the kernel hands these numbers out.
base::UniqueFd above_standard(base::UniqueFd fd) {
  if (fd.get() >= first_free_descriptor) return fd;
  base::UniqueFd moved(fcntl(fd.get(), F_DUPFD_CLOEXEC, first_free_descriptor));
  if (!moved) throw_system_error("cannot duplicate a descriptor");
  return moved;
}

bool is_pending(int signal_number) noexcept {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, signal_number) == 1;
}

}  // namespace

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_system_error("cannot make a pipe");
  Pipe pipe{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
  pipe.read = above_standard(std::move(pipe.read));
  pipe.write = above_standard(std::move(pipe.write));
  return pipe;
}

ssize_t write_quietly(int fd, std::string_view bytes) noexcept {
  sigset_t broken_pipe;
  sigset_t before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  const bool was_pending = is_pending(SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  ssize_t written = -1;
  do {
    written = ::write(fd, bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  const int reason = errno;
  if (written < 0 && reason == EPIPE && !was_pending) {
    // Take back the signal that our write raised, and no other.
    const timespec at_once{};
    while (sigtimedwait(&broken_pipe, nullptr, &at_once) < 0 && errno == EINTR) continue;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = reason;
  return written;
}

void throw_system_error(const std::string& what) {
  const int reason = errno;
  throw SystemError(what + ": " + std::system_category().message(reason));
}

}  // namespace parley::launch
