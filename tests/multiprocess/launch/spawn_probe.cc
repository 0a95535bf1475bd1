// What the tests of spawn() start: calls spawn(), or is refused, in the way its first argument names, and
// exits with what spawn() returned. With a second argument, "exec", the ranks execute this program again.

#include <parley/error.h>
#include <parley/init.h>
#include <parley/launch.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

bool exec = false;

int spawn(int count, const std::function<void(int, int)>& fn, parley::SpawnOptions options = {}) {
  options.exec = exec;
  return parley::spawn(count, fn, options);
}

[[noreturn]] void stay() {
  for (;;) pause();
}

int environment() {
  return spawn(3,
               [](int rank, int count) {
                 const auto is = [](const char* name, const std::string& value) {
                   const char* got = std::getenv(name);
                   if (got == nullptr || got != value)
                     throw std::runtime_error(std::string(name) + " is wrong");
                 };
                 is("RANK", std::to_string(rank));
                 is("LOCAL_RANK", std::to_string(rank));
                 is("WORLD_SIZE", std::to_string(count));
                 is("LOCAL_WORLD_SIZE", "3");
                 is("MASTER_ADDR", "127.0.0.1");
                 is("PARLEY_STORE", "launcher");
                 is("PROBE_EXTRA", "extra");
                 std::printf("rank %d of %d\n", rank, count);
               },
               {.environment = {{"PROBE_EXTRA", "extra"}}});
}

int failure() {
  return spawn(3, [](int rank, int) {
    if (rank == 2) throw std::runtime_error("no luck");
    stay();
  });
}

int strange_failure() {
  return spawn(1, [](int, int) { throw 42; });
}

int killed() {
  return spawn(3, [](int rank, int) {
    if (rank == 1) raise(SIGKILL);
    stay();
  });
}

int late() {
  return spawn(2, [](int, int) { stay(); }, {.timeout = std::chrono::milliseconds(100)});
}

// Text that no newline or flush has pushed out before the fork must come out once.
int buffered() {
  std::printf("before ");
  std::cout << "the fork ";
  return spawn(2,
               [](int, int) {
                 std::printf("x");
                 std::cout << "y";
               },
               {.prefix_output = false});
}

int family() {
  return spawn(3, [](int, int) {
    std::printf("pid=%d\n", static_cast<int>(getpid()));
    std::fflush(stdout);
    stay();
  });
}

int world() {
  return spawn(4, [](int rank, int count) {
    parley::ProcessGroup group = parley::init();
    int sum = rank;
    if (rank > 0) sum += group.recv<int>(rank - 1);
    if (rank + 1 < count) group.send(sum, rank + 1);
    if (rank + 1 == count) std::printf("sum %d\n", sum);
  });
}

// A job after a job, in one process.
int twice() {
  const auto fn = [](int rank, int) {
    parley::init().barrier();
    std::printf("rank %d\n", rank);
  };
  const int first = spawn(2, fn);
  return first != 0 ? first : spawn(2, fn);
}

int refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const parley::UsageError& error) {
    std::printf("UsageError: %s\n", error.what());
    return 0;
  }
  return 1;
}

const std::function<void(int, int)> nothing = [](int, int) {};

int no_ranks() {
  return refused([] { (void)spawn(0, nothing); });
}
int no_function() {
  return refused([] { (void)spawn(2, {}); });
}
int threads() {
  std::thread other(stay);
  other.detach();
  return refused([] { (void)spawn(2, nothing); });
}
int initialised() {
  parley::ProcessGroup world_of_one = parley::init();
  const int code = refused([] { (void)spawn(2, nothing); });
  parley::destroy();
  return code;
}
int own_variable() {
  return refused([] { (void)spawn(2, nothing, {.environment = {{"RANK", "5"}}}); });
}
int ignored_children() {
  std::signal(SIGCHLD, SIG_IGN);
  return refused([] { (void)spawn(2, nothing); });
}

}  // namespace

int main(int argc, char** argv) {
  exec = argc > 2 && std::string(argv[2]) == "exec";
  const std::map<std::string, std::function<int()>> actions{{"environment", environment},
                                                            {"failure", failure},
                                                            {"strange_failure", strange_failure},
                                                            {"killed", killed},
                                                            {"late", late},
                                                            {"buffered", buffered},
                                                            {"family", family},
                                                            {"world", world},
                                                            {"twice", twice},
                                                            {"no_ranks", no_ranks},
                                                            {"no_function", no_function},
                                                            {"threads", threads},
                                                            {"initialised", initialised},
                                                            {"own_variable", own_variable},
                                                            {"ignored_children", ignored_children}};
  const auto action = actions.find(argc > 1 ? argv[1] : "");
  return action != actions.end() ? action->second() : 97;
}
