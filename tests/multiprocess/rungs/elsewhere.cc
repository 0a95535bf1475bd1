#include "tests/multiprocess/rungs/elsewhere.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>

namespace parley::testing {
namespace {

constexpr uid_t nobody = 65534;
constexpr const char* restarted = "RESTARTED_IN_USER_NAMESPACE";

void check(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::system_category(), what);
}

// The child dies with its parent, which ends as it does.
[[noreturn]] void fork_and_end_alike(const std::function<void()>& child) {
  const pid_t pid = fork();
  check(pid, "fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      child();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(1);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace

void become_another_user() {
  check(setgid(nobody), "setgid");
  check(setuid(nobody), "setuid");
}

void restart_in_user_namespace(const std::string& test) {
  check(setenv(restarted, "1", 1), "setenv");
  const std::string program = std::filesystem::read_symlink("/proc/self/exe"),
                    filter = "--gtest_filter=" + test;
  check(execlp("unshare", "unshare", "--user", program.c_str(), filter.c_str(), nullptr), "unshare");
  std::abort();
}

bool is_restarted() {
  return std::getenv(restarted) != nullptr;
}

void enter_mount_namespace() {
  check(unshare(CLONE_NEWNS), "unshare a mount namespace");
  check(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make all mounts private");
}

void limit_folders(const std::vector<std::string>& folders, unsigned long bytes) {
  enter_mount_namespace();
  const std::string size = "size=" + std::to_string(bytes == 0 ? 4096 : bytes);
  for (const std::string& folder : folders)
    check(mount("tmpfs", folder.c_str(), "tmpfs", bytes == 0 ? MS_RDONLY : 0, size.c_str()),
          "mount on a folder");
}

void run_in_pid_namespace(const std::function<void()>& rest) {
  check(unshare(CLONE_NEWPID), "unshare a PID namespace");
  fork_and_end_alike([&] {
    // The first process of a namespace is deaf to signals from within; an ordinary one is the second.
    fork_and_end_alike([&] {
      rest();
      _exit(0);
    });
  });
}

}  // namespace parley::testing
