#include "bench/peers/launcher.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace parley::bench {
namespace {

void die_with_parent(int signal) {
  ::prctl(PR_SET_PDEATHSIG, static_cast<unsigned long>(signal));
}

std::string this_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length < 0) throw std::system_error(errno, std::generic_category(), "/proc/self/exe");
  return {path.data(), static_cast<std::size_t>(length)};
}

}  // namespace

Launch openmpi_launch(const PeerOptions& options, const Host& host) {
  Launch launch;
  std::vector<std::string>& command = launch.command;
  command = {"mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-np", std::to_string(options.ranks)};
  if (host.root) command.emplace_back("--allow-run-as-root");
  const auto set = [&](const char* parameter, const char* value) {
    command.insert(command.end(), {"--mca", parameter, value});
  };
  set("pml", "ob1");
  set("btl", options.transport == "shm" ? "self,vader" : "self,tcp");
  if (options.transport == "tcp") set("btl_tcp_if_include", "lo");
  set("mpi_yield_when_idle", host.oversubscribed ? "1" : "0");
  return launch;
}

Launch mpich_launch(const PeerOptions& options, const Host&) {
  Launch launch;
  launch.command = {"mpiexec.mpich", "-n", std::to_string(options.ranks)};
  if (options.transport == "tcp") {
    launch.environment = {{"MPIR_CVAR_NOLOCAL", "1"}, {"UCX_TLS", "tcp,self"}, {"UCX_NET_DEVICES", "lo"}};
  }
  return launch;
}

int run_launcher(const Launch& launch, int argc, const char* const* argv) {
  std::vector<std::string> words = launch.command;
  words.push_back(this_program());
  words.insert(words.end(), argv + 1, argv + argc);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  for (const auto& [name, value] : launch.environment) ::setenv(name.c_str(), value.c_str(), 1);
  die_with_parent(SIGTERM);
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    // Not SIGKILL: a launcher that is asked takes its files away.
    die_with_parent(SIGTERM);
    ::execvp(pointers.front(), pointers.data());
    ::perror(pointers.front());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void die_with_launcher() {
  die_with_parent(SIGKILL);
}

}  // namespace parley::bench
