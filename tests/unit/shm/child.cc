#include "tests/unit/shm/child.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

namespace parley::transport::shm::testing {
namespace {

constexpr unsigned longest_life_s = 60;

std::string words_of(const std::function<std::string()>& life) noexcept {
  try {
    return life();
  } catch (const std::exception& error) {
    return error.what();
  }
}

void tell(int fd, const std::string& words) noexcept {
  for (std::size_t done = 0; done < words.size();) {
    const ssize_t count = write(fd, words.data() + done, words.size() - done);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::runtime_error(what + ": " + std::strerror(error));
}

}  // namespace

Child::Child(const std::function<std::string()>& life) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2", errno);
  told_ = base::UniqueFd(ends[0]);
  base::UniqueFd tells(ends[1]);
  const pid_t test = getpid();
  pid_ = fork();
  if (pid_ < 0) fail("fork", errno);
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != test) _exit(1);
  alarm(longest_life_s);
  told_.reset();
  tell(tells.get(), words_of(life));
  _exit(0);
}

Child::~Child() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  finish();
}

std::string Child::finish() {
  std::string told;
  std::array<char, 512> piece{};
  for (;;) {
    const ssize_t count = read(told_.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    told.append(piece.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = 0;
  if (WIFSIGNALED(status)) told += std::string("ended by signal ") + strsignal(WTERMSIG(status));
  return told;
}

void leave_mount_namespace() {
  if (unshare(CLONE_NEWNS) != 0)
    fail("this test mounts file systems in a namespace of its own: run it as root, or with CAP_SYS_ADMIN",
         errno);
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) fail("making / private", errno);
}

void mount_tmpfs(const std::string& folder, const std::string& options, unsigned long flags) {
  if (mount("parley-test", folder.c_str(), "tmpfs", flags, options.c_str()) != 0)
    fail("mounting over " + folder, errno);
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("not so: " + what);
}

}  // namespace parley::transport::shm::testing
