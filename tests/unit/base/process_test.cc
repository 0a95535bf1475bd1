#include <fcntl.h>
#include <gtest/gtest.h>
#include <parley/error.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "transport/base/fork_guard.h"
#include "transport/base/host.h"
#include "transport/base/unique_fd.h"

namespace parley::base {
namespace {

// Runs `fn` in a forked child and returns the code that it leaves with.
template <typename Fn>
int in_forked_child(Fn fn) {
  const pid_t pid = fork();
  if (pid == 0) _exit(fn());
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ForkGuard, KnowsTheChildFromTheParent) {
  const ForkGuard guard;
  EXPECT_FALSE(guard.in_child());
  EXPECT_EQ(in_forked_child([&] { return guard.in_child() ? 7 : 0; }), 7);
  EXPECT_FALSE(guard.in_child());
}

TEST(ForkGuard, AGuardMadeInTheChildIsAtHomeThere) {
  const ForkGuard parents;
  EXPECT_EQ(in_forked_child([&] {
              const ForkGuard own;
              // And a grandchild is a child of both.
              const int below = in_forked_child([&] { return parents.in_child() && own.in_child() ? 5 : 0; });
              return own.in_child() ? 0 : below;
            }),
            5);
}

bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

int open_something() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST(UniqueFd, ClosesWhatItOwns) {
  const int fd = open_something();
  {
    const UniqueFd owner(fd);
    EXPECT_TRUE(owner);
    EXPECT_EQ(owner.get(), fd);
    EXPECT_TRUE(is_open(fd));
  }
  EXPECT_FALSE(is_open(fd));
}

TEST(UniqueFd, MovesAndReleases) {
  const int fd = open_something();
  UniqueFd first(fd);
  UniqueFd second(std::move(first));
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): a moved-from owner owns nothing
  EXPECT_EQ(second.get(), fd);
  const int replaced = open_something();
  UniqueFd third(replaced);
  third = std::move(second);
  EXPECT_FALSE(is_open(replaced));
  EXPECT_EQ(third.release(), fd);
  EXPECT_FALSE(third);
  EXPECT_TRUE(is_open(fd));
  ::close(fd);
}

TEST(UniqueFd, ResetClosesTheOldOne) {
  const int fd = open_something();
  UniqueFd owner(fd);
  owner.reset();
  EXPECT_FALSE(is_open(fd));
  EXPECT_FALSE(UniqueFd());
}

TEST(Host, SaysWhoAndHowLarge) {
  EXPECT_FALSE(host_name().empty());
  EXPECT_FALSE(host_id().empty());
  EXPECT_EQ(host_id(), host_id());
  EXPECT_FALSE(usable_cores().empty());
}

TEST(Host, TellsAnotherNetworkFromAnotherKernel) {
  EXPECT_TRUE(is_other_network_of_one_host("b1/net:4", "b1/net:5"));
  EXPECT_FALSE(is_other_network_of_one_host("b1/net:4", "b1/net:4"));
  EXPECT_FALSE(is_other_network_of_one_host("b1/net:4", "b2/net:5"));
  EXPECT_FALSE(is_other_network_of_one_host("b1/net:4", "b12/net:5"));
  EXPECT_FALSE(is_other_network_of_one_host("b1/net:4", "b1"));
  EXPECT_FALSE(is_other_network_of_one_host("/net:4", "/net:5")) << "nothing is known of their kernels";
}

TEST(Host, KnowsWhenAProcessBegan) {
  const ProcessSight own = look_at_process(getpid());
  EXPECT_EQ(own.state, ProcessSight::State::there);
  EXPECT_FALSE(own.start.empty());
  EXPECT_EQ(look_at_process(getpid()).start, own.start);
}

TEST(Error, CarriesItsDetailsAndIsCaughtByItsBase) {
  try {
    throw StoreTimeoutError("no key", {.rank = 1, .operation = "store get", .keys = {"a", "b"}});
  } catch (const StoreError& error) {
    EXPECT_STREQ(error.what(), "no key");
    EXPECT_EQ(error.details().rank, 1);
    EXPECT_EQ(error.details().peer, -1);
    EXPECT_EQ(error.details().operation, "store get");
    EXPECT_EQ(error.details().keys, (std::vector<std::string>{"a", "b"}));
  }
  EXPECT_THROW(throw PeerDiedError("x"), Error);
  EXPECT_THROW(throw UsageError("x"), std::runtime_error);
}

TEST(Host, AProcessHasEndedWhenItIsDeadThoughNobodyHasWaitedForIt) {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(look_at_process(pid).state, ProcessSight::State::ended);
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  EXPECT_EQ(look_at_process(pid).state, ProcessSight::State::ended);
}

TEST(Host, AProcessWhoseFirstThreadHasEndedIsThere) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::thread([] { pause(); }).detach();
    syscall(SYS_exit, 0);  // of this thread alone
  }
  // Until the first thread is a zombie.
  const std::string task = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/stat";
  std::string text;
  for (int looks = 0; looks < 30'000 && text.find(") Z ") == std::string::npos; ++looks) {
    std::ifstream file(task);
    text.assign(std::istreambuf_iterator<char>(file), {});
    usleep(1000);
  }
  EXPECT_NE(text.find(") Z "), std::string::npos);
  EXPECT_EQ(look_at_process(pid).state, ProcessSight::State::there);
  kill(pid, SIGKILL);
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
}

TEST(Host, NothingIsKnownOfAProcessWithoutADescriptorToLookWith) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const ProcessSight sight = look_at_process(getppid());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(sight.state, ProcessSight::State::unknown);
}

}  // namespace
}  // namespace parley::base
