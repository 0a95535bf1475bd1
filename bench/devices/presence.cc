#include "bench/devices/presence.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "transport/cuda/runtime.h"

namespace parley::bench {
namespace {

[[noreturn]] void tell_reason(int to) {
  const std::string reason = cuda::reason_against();
  const ssize_t written = ::write(to, reason.data(), reason.size());
  ::_exit(written == static_cast<ssize_t>(reason.size()) ? 0 : 1);
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 512> piece{};
  for (;;) {
    const ssize_t got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string reason_against_devices() {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) tell_reason(pipe[1]);
  ::close(pipe[1]);
  const std::string reason = read_all(pipe[0]);
  ::close(pipe[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!reason.empty() || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return reason;
  return "the process that looked for one has died";
}

}  // namespace parley::bench
