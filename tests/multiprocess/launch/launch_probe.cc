// What the launcher's tests start as ranks: does one thing that its first argument names.
//
// "exit CODE [RANK]"   leaves with the code, every rank or that one; the others stay until they are ended
// "signal N RANK"      that rank ends itself by the signal; the others stay
// "lines N"            writes N lines to standard output, in pieces that do not end where lines end
// "both N"             the same, every other line to standard error
// "flood RANK CODE"    prints pid=N on standard error; that rank leaves with the code, the others write on
// "environment"        prints the launcher's variables
// "descriptors"        prints how many are open
// "stay [deaf]"        prints pid=N and ready, then stays until a signal ends it; deaf: ignores all it can
// "family"             as stay, with a child process, whose pid it prints as child=N
// "polite CODE"        as stay, and leaves with the code at SIGTERM, saying so
// "cat"                copies standard input to standard output
// "write TEXT"         writes the text and no newline

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using Arguments = std::vector<std::string>;

int my_rank() {
  const char* rank = std::getenv("RANK");
  return rank != nullptr ? std::atoi(rank) : -1;
}

int number(const Arguments& arguments, std::size_t index, int fallback = 0) {
  return index < arguments.size() ? std::atoi(arguments[index].c_str()) : fallback;
}

void write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(fd, text.data() + at, text.size() - at);
    if (written < 0) _exit(98);
    at += static_cast<std::size_t>(written);
  }
}

[[noreturn]] void stay() {
  for (;;) pause();
}

void announce() {
  write_all(STDOUT_FILENO, "pid=" + std::to_string(getpid()) + "\n");
  write_all(STDOUT_FILENO, "ready\n");
}

// Line number i of a rank: its length differs from line to line.
std::string line(int rank, int i) {
  return "rank " + std::to_string(rank) + " line " + std::to_string(i) + ' ' +
         std::string(static_cast<std::size_t>((i * 7 + rank) % 61), static_cast<char>('a' + i % 26)) + '\n';
}

int do_exit(const Arguments& arguments) {
  const int rank = number(arguments, 2, my_rank());
  if (rank != my_rank()) stay();
  std::fprintf(stderr, "rank %d leaves with %d\n", rank, number(arguments, 1));
  return number(arguments, 1);
}

int do_signal(const Arguments& arguments) {
  if (number(arguments, 2) != my_rank()) stay();
  std::signal(number(arguments, 1), SIG_DFL);
  raise(number(arguments, 1));
  stay();
}

int do_lines(const Arguments& arguments) {
  std::string text;
  for (int i = 0; i < number(arguments, 1); ++i) {
    text += line(my_rank(), i);
    if (text.size() < 5000) continue;
    write_all(STDOUT_FILENO, text.substr(0, 4999));
    text.erase(0, 4999);
  }
  write_all(STDOUT_FILENO, text);
  return 0;
}

int do_both(const Arguments& arguments) {
  for (int i = 0; i < number(arguments, 1); ++i) {
    const std::string text = line(my_rank(), i);
    const int fd = i % 2 == 0 ? STDOUT_FILENO : STDERR_FILENO;
    write_all(fd, text.substr(0, text.size() / 2));
    write_all(fd, text.substr(text.size() / 2));
  }
  return 0;
}

int do_flood(const Arguments& arguments) {
  write_all(STDERR_FILENO, "pid=" + std::to_string(getpid()) + "\n");
  if (my_rank() == number(arguments, 1)) return number(arguments, 2);
  for (;;) write_all(STDOUT_FILENO, std::string(1000, 'f') + '\n');
}

int do_environment(const Arguments&) {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR",
                           "MASTER_PORT", "PARLEY_SECRET", "PARLEY_STORE", "PROBE_EXTRA"}) {
    const char* value = std::getenv(name);
    std::printf("%s=%s\n", name, value != nullptr ? value : "(unset)");
  }
  return 0;
}

int do_descriptors(const Arguments&) {
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  std::printf("%d descriptors\n", count);
  return 0;
}

int do_stay(const Arguments& arguments) {
  if (arguments.size() > 1) {
    for (const int signal_number : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal_number, SIG_IGN);
  }
  announce();
  stay();
}

int do_family(const Arguments&) {
  const pid_t child = fork();
  if (child == 0) stay();
  write_all(STDOUT_FILENO, "child=" + std::to_string(child) + "\n");
  announce();
  stay();
}

// Waits for the signal instead of having a handler: the thread sanitizer loses one that reaches a handler
// while the thread makes its first blocking call.
int do_polite(const Arguments& arguments) {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGTERM);
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
  announce();
  int arrived = 0;
  sigwait(&awaited, &arrived);
  write_all(STDOUT_FILENO, "goodbye\n");
  return number(arguments, 1);
}

int do_cat(const Arguments&) {
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(STDIN_FILENO, buffer.data(), buffer.size())) > 0;)
    write_all(STDOUT_FILENO, std::string(buffer.data(), static_cast<std::size_t>(got)));
  write_all(STDOUT_FILENO, "end of input\n");
  return 0;
}

int do_write(const Arguments& arguments) {
  write_all(STDOUT_FILENO, arguments.at(1));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argv + 1, argv + argc);
  const std::map<std::string, std::function<int(const Arguments&)>> actions{{"exit", do_exit},
                                                                            {"signal", do_signal},
                                                                            {"lines", do_lines},
                                                                            {"both", do_both},
                                                                            {"flood", do_flood},
                                                                            {"stay", do_stay},
                                                                            {"family", do_family},
                                                                            {"environment", do_environment},
                                                                            {"descriptors", do_descriptors},
                                                                            {"polite", do_polite},
                                                                            {"cat", do_cat},
                                                                            {"write", do_write}};
  const auto action = actions.find(arguments.empty() ? "" : arguments[0]);
  return action != actions.end() ? action->second(arguments) : 97;
}
