#include "bench/two_transports.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <parley/launch.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <system_error>

#include "bench/cores.h"
#include "bench/rank_main.h"
#include "bench/relay.h"
#include "bench/report.h"
#include "bench/transport_table.h"
#include "transport/base/unique_fd.h"

namespace parley::bench {
namespace {

constexpr int exit_failed = 1;

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

struct Pipe {
  base::UniqueFd out;
  base::UniqueFd in;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
  return {base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

// The whole life of the process that starts one transport's ranks.
int run_one(std::size_t run, Options options, Relay& relay, int rows) {
  options.transport = compared_transports[run];
  options.json_file = "/dev/fd/" + std::to_string(rows);
  options.relay = &relay;
  relay.join(run);
  SpawnOptions plain;
  plain.prefix_output = false;
  return spawn(
      options.ranks.value_or(2), [&](int, int) { rank_main(options); }, plain);
}

pid_t start_one(std::size_t run, const Options& options, Relay& relay, int rows) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child > 0) return child;
  int code = exit_failed;
  try {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent)
      code = run_one(run, options, relay, rows);
  } catch (const std::exception& error) {
    std::cerr << "parley-bench: " << error.what() << '\n';
  }
  ::_exit(code);
}

int exit_code_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) fail("waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Line by line, until all who write have ended.
template <typename Take>
void read_lines(int fd, const Take& take) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t bytes = ::read(fd, piece.data(), piece.size());
    if (bytes == 0) return;
    if (bytes < 0 && errno != EINTR) fail("read");
    if (bytes < 0) continue;
    text.append(piece.data(), static_cast<std::size_t>(bytes));
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      take(text.substr(0, end));
      text.erase(0, end + 1);
    }
  }
}

std::string title(const Options& options) {
  const int ranks = options.ranks.value_or(2);
  const std::vector<int> cores = usable_cores();
  return fmt::format(
      "# parley-bench {}, buffers {}, transports shm and tcp in turns, {} ranks, {} rounds; {}\n",
      to_string(options.op), options.rewrite ? "rewritten" : "kept", ranks, options.rounds,
      options.pin ? describe_pinning(ranks, cores) : "not pinned");
}

}  // namespace

int measure_two_transports(const Options& options) {
  Report report(options.json_file);
  TransportTable table(options.op);
  report.print(title(options) + table.header());
  Pipe rows = make_pipe();
  std::array<pid_t, compared_transports.size()> runs{};
  {
    Relay relay(options.ranks.value_or(2));
    for (std::size_t run = 0; run < runs.size(); ++run)
      runs[run] = start_one(run, options, relay, rows.in.get());
  }
  rows.in.reset();
  read_lines(rows.out.get(), [&](const std::string& row) {
    report.add_json(row);
    report.print(table.add(row));
  });
  int code = 0;
  for (const pid_t run : runs) {
    const int one = exit_code_of(run);
    if (code == 0) code = one;
  }
  return code;
}

}  // namespace parley::bench
