// What the tests of spawn() with {.exec = true} start. Its first argument says what it does before its calls
// of spawn(); unless they are refused it exits with what the last one returned. main() runs again in each
// rank.

#include <fcntl.h>
#include <parley/parley.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

std::vector<std::string> arguments;
const std::function<void(int, int)> nothing = [](int, int) {};

int spawn(int count, const std::function<void(int, int)>& fn, parley::SpawnOptions options = {}) {
  options.exec = true;
  return parley::spawn(count, fn, options);
}

// The ranks are a world, which adds them up.
void add_up(int rank, int count) {
  parley::ProcessGroup world = parley::init();
  int sum = rank;
  if (rank > 0) sum += world.recv<int>(rank - 1);
  if (rank + 1 < count) world.send(sum, rank + 1);
  if (rank + 1 == count) std::printf("sum %d\n", sum);
}

int with_thread() {
  std::thread other([] {
    for (;;) pause();
  });
  other.detach();
  return spawn(4, add_up);
}

// A world in which messages are under way, before and after.
int with_world() {
  if (parley::is_spawned()) return spawn(3, add_up);
  parley::ProcessGroup world = parley::init();
  const int message = 1234;
  parley::Work sent = world.isend(message, 0);
  const int code = spawn(3, add_up);
  std::printf("received %d\n", world.recv<int>(0));
  sent.wait();
  return code;
}

int show_start() {
  if (!parley::is_spawned()) {
    std::filesystem::current_path("/");
    ::setenv("PROBE_SET_BY_CALLER", "a value", 1);
  }
  return spawn(1, [](int, int) {
    for (const std::string& argument : arguments) std::printf("<%s>\n", argument.c_str());
    std::printf("in %s\n", std::filesystem::current_path().c_str());
    std::printf("with %s\n", std::getenv("PROBE_SET_BY_CALLER"));
    std::printf("order %s\n", std::getenv("PARLEY_SPAWN") == nullptr ? "taken" : "left");
    std::printf("spawned %d\n", static_cast<int>(parley::is_spawned()));
  });
}

int returns_too_early() {
  if (parley::is_spawned()) return std::stoi(arguments.at(2));
  return spawn(2, nothing);
}

int dies_too_early() {
  if (parley::is_spawned()) raise(SIGKILL);
  return spawn(1, nothing);
}

// What its calls return and throw must be the same in the caller and in the ranks of the later calls.
int several_calls() {
  std::string story;
  const auto call = [&](const std::function<int()>& action) {
    try {
      story += ' ' + std::to_string(action());
    } catch (const parley::UsageError&) {
      story += " refused";
    } catch (const parley::Error&) {
      story += " failed";
    }
  };
  call([] { return parley::spawn(1, nothing); });
  call([] { return spawn(2, [](int, int) { std::_Exit(7); }); });
  call([] { return parley::spawn(0, nothing); });
  if (!parley::is_spawned()) std::signal(SIGCHLD, SIG_IGN);
  call([] { return spawn(1, nothing); });
  if (!parley::is_spawned()) std::signal(SIGCHLD, SIG_DFL);
  call([] { return spawn(1, nothing, {.log_dir = "/proc/none"}); });
  const int code = spawn(1, [&](int, int) { std::printf("rank:%s\n", story.c_str()); });
  std::printf("caller:%s\n", story.c_str());
  return code;
}

int takes_another_way() {
  return spawn(parley::is_spawned() ? 3 : 2, nothing);
}

int closes_everything() {
  if (parley::is_spawned()) close_range(3, UINT_MAX, 0);
  return spawn(1, nothing);
}

int clears_environment() {
  if (parley::is_spawned()) ::clearenv();
  return spawn(2, [](int rank, int) { std::printf("rank %d\n", rank); });
}

int forks_on_the_way() {
  if (parley::is_spawned() && fork() > 0) {
    for (;;) pause();
  }
  return spawn(1, nothing);
}

int nests() {
  return spawn(1, [](int, int) {
    const int code = parley::spawn(2, [](int rank, int) { std::printf("inner %d\n", rank); });
    std::printf("forks returned %d\n", code);
    std::fflush(stdout);
    spawn(1, nothing);
  });
}

// The rank becomes this program, as if a person had started it.
int becomes_another() {
  if (arguments.size() > 2) {
    std::printf("spawned %d\n", static_cast<int>(parley::is_spawned()));
    return spawn(2, [](int rank, int) { std::printf("rank %d\n", rank); }, {.prefix_output = false});
  }
  return spawn(1,
               [](int, int) { execl("/proc/self/exe", "exec_probe", "becomes_another", "again", nullptr); });
}

// One call at a time: the rank of the first one lives until the second one was refused.
int calls_at_once() {
  std::array<int, 2> ends{};
  if (!parley::is_spawned()) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return 96;
    ::setenv("PROBE_SOCKET", std::to_string(ends[1]).c_str(), 1);
  }
  char byte = 0;
  int code = 95;
  std::thread first([&] {
    code = spawn(1, [](int, int) {
      const int fd = std::atoi(std::getenv("PROBE_SOCKET"));
      char signal = 0;
      if (write(fd, "!", 1) != 1 || read(fd, &signal, 1) != 1) std::_Exit(94);
    });
  });
  if (parley::is_spawned()) first.join();  // never returns
  (void)!read(ends[0], &byte, 1);
  try {
    (void)spawn(1, nothing);
  } catch (const parley::UsageError& error) {
    std::printf("UsageError: %s\n", error.what());
  }
  (void)!write(ends[0], "!", 1);
  first.join();
  return code;
}

int too_large() {
  return spawn(1, nothing, {.environment = {{"PROBE_LARGE", std::string(200'000, 'x')}}});
}

int deleted() {
  std::error_code error;
  std::filesystem::remove(arguments.at(0), error);
  return spawn(2, [](int rank, int) { std::printf("rank %d\n", rank); });
}

std::string state_of(int number) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return std::string(sigismember(&mask, number) == 1 ? "blocked" : "open") +
         (action.sa_handler == SIG_DFL   ? " default"
          : action.sa_handler == SIG_IGN ? " ignored"
                                         : " handled");
}

int signals() {
  if (!parley::is_spawned()) {
    std::signal(SIGUSR1, [](int) {});
    std::signal(SIGUSR2, SIG_IGN);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  }
  const int code = spawn(1, [](int, int) {
    std::printf("USR1 %s, USR2 %s\n", state_of(SIGUSR1).c_str(), state_of(SIGUSR2).c_str());
  });
  std::printf("caller: USR1 %s, USR2 %s\n", state_of(SIGUSR1).c_str(), state_of(SIGUSR2).c_str());
  return code;
}

// Those that a program inherits.
int kept_descriptors() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    count += (fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC) == 0 ? 1 : 0;
  return count;
}

int descriptors() {
  parley::ProcessGroup world;
  if (!parley::is_spawned()) {
    world = parley::init();
    ::setenv("PROBE_KEPT", std::to_string(kept_descriptors()).c_str(), 1);
  }
  return spawn(3, [](int, int) {
    const int caller = std::atoi(std::getenv("PROBE_KEPT"));
    if (kept_descriptors() != caller) throw std::runtime_error("it has more descriptors than it should");
  });
}

}  // namespace

int main(int argc, char** argv) {
  arguments.assign(argv, argv + argc);
  const std::map<std::string, std::function<int()>> actions{{"with_thread", with_thread},
                                                            {"with_world", with_world},
                                                            {"show_start", show_start},
                                                            {"returns_too_early", returns_too_early},
                                                            {"dies_too_early", dies_too_early},
                                                            {"several_calls", several_calls},
                                                            {"takes_another_way", takes_another_way},
                                                            {"closes_everything", closes_everything},
                                                            {"clears_environment", clears_environment},
                                                            {"forks_on_the_way", forks_on_the_way},
                                                            {"nests", nests},
                                                            {"becomes_another", becomes_another},
                                                            {"calls_at_once", calls_at_once},
                                                            {"too_large", too_large},
                                                            {"deleted", deleted},
                                                            {"signals", signals},
                                                            {"descriptors", descriptors}};
  const auto action = actions.find(argc > 1 ? argv[1] : "");
  return action != actions.end() ? action->second() : 97;
}
