// More than one process. In a program of its own, since no thread may run when a test forks; the one
// exception is the last test, about just that.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/store/store_fixture.h"
#include "transport/base/unique_fd.h"

namespace parley::test {
namespace {

using namespace std::string_literals;

// Runs `body` in a child, whose exit status is what it returns; 99 when it throws.
pid_t fork_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    ::_exit(body());
  } catch (...) {
    ::_exit(99);
  }
}

int exit_status(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// A store server in a process of its own, which this process can stop and end.
class ServerProcess {
 public:
  ServerProcess() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::runtime_error("socketpair");
    base::UniqueFd mine(ends[0]);
    base::UniqueFd theirs(ends[1]);
    child_ = fork_child([&] {
      mine.reset();
      const TcpStoreServer server(options_for(0));
      const auto chosen = server.port();
      if (::write(theirs.get(), &chosen, sizeof(chosen)) != sizeof(chosen)) return 1;
      char unused = 0;
      return ::read(theirs.get(), &unused, 1) == 0 ? 0 : 1;  // until the parent closes its end
    });
    theirs.reset();
    if (::read(mine.get(), &port_, sizeof(port_)) != sizeof(port_)) throw std::runtime_error("no server");
    lifeline_ = std::move(mine);
  }
  ~ServerProcess() {
    if (child_ > 0) end();
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  void signal(int number) const { ASSERT_EQ(::kill(child_, number), 0); }
  // Returns when it stands still.
  void stop() const {
    signal(SIGSTOP);
    int status = 0;
    ASSERT_EQ(::waitpid(child_, &status, WUNTRACED), child_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  void end() {
    lifeline_.reset();
    EXPECT_EQ(exit_status(std::exchange(child_, 0)), 0);
  }
  // Of a process that was killed.
  void expect_killed() { EXPECT_EQ(exit_status(std::exchange(child_, 0)), -1); }

 private:
  pid_t child_ = 0;
  std::uint16_t port_ = 0;
  base::UniqueFd lifeline_;
};

TEST(TcpStoreProcesses, AForkedChildMayNotUseTheParentsStore) {
  ServerProcess server;
  auto store = connect_tcp_store(options_for(server.port()));
  store->set_string("key", "value");
  const pid_t child = fork_child([&] {
    int refused = 0;
    const auto expect = [&](const std::function<void()>& action) {
      try {
        action();
      } catch (const ForkedError&) {
        ++refused;
      }
    };
    expect([&] { store->get("key"); });
    expect([&] { store->set_string("key", "other"); });
    expect([&] { store->add("n", 1); });
    store.reset();  // leaves the parent's connection alone
    return refused == 3 ? 0 : 1;
  });
  EXPECT_EQ(exit_status(child), 0);
  EXPECT_EQ(store->get_string("key"), "value");
}

TEST(TcpStoreProcesses, AForkedChildMakesItsOwnConnection) {
  ServerProcess server;
  auto store = connect_tcp_store(options_for(server.port()));
  const pid_t child = fork_child([&] {
    store = connect_tcp_store(options_for(server.port()));
    store->set_string("from the child", "yes");
    return 0;
  });
  EXPECT_EQ(store->get_string("from the child"), "yes");
  EXPECT_EQ(exit_status(child), 0);
}

TEST(TcpStoreProcesses, AForkedChildMayNotUseAMemoryStore) {
  const auto store = make_memory_store();
  const pid_t child = fork_child([&] {
    try {
      store->set_string("key", "value");
    } catch (const ForkedError&) {
      return 0;
    }
    return 1;
  });
  EXPECT_EQ(exit_status(child), 0);
}

TEST(TcpStoreProcesses, AKilledServerIsLost) {
  ServerProcess server;
  const auto store = connect_tcp_store(options_for(server.port()));
  const pid_t killer = fork_child([&] {
    const auto own = connect_tcp_store(options_for(server.port()));
    own->wait(std::vector{"waiting"s});
    server.signal(SIGKILL);
    return 0;
  });
  store->set_string("waiting", "");
  EXPECT_THROW(store->get("never", 1h), StoreLostError);
  EXPECT_EQ(exit_status(killer), 0);
  server.expect_killed();
}

TEST(TcpStoreProcesses, AStoppedServerEndsInATimeoutAndNothingIsLost) {
  ServerProcess server;
  const auto store = connect_tcp_store(options_for(server.port()));
  store->set_string("key", "value");
  server.stop();
  const auto error = thrown<StoreTimeoutError>([&] { store->get("key", 10ms); });
  server.signal(SIGCONT);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(), "store get: no answer from the store at 127.0.0.1:" +
                               std::to_string(server.port()) + ", key: key");
  EXPECT_EQ(store->get_string("key"), "value");
  store->set_string("key", "other");
  EXPECT_EQ(store->get_string("key"), "other");
}

// Whoever leaves a world whose store's host is gone asks several times, and shall not wait each time.
TEST(TcpStoreProcesses, ManyCallsToAStoppedServerCostLittleMoreThanOne) {
  constexpr int calls = 20;
  ServerProcess server;
  const auto store = connect_tcp_store(options_for(server.port()));
  store->set_string("key", "value");
  server.stop();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    const auto error = thrown<StoreTimeoutError>([&] { store->add("calls", 1, 500ms); });
    EXPECT_TRUE(error);
    if (error && i == calls - 1) {
      EXPECT_NE(std::string(error->what()).find(", silent for "), std::string::npos) << error->what();
    }
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, 500ms);
  EXPECT_LT(took, calls * 500ms) << "each waited";
  // Whoever waits for a key in a loop has its pace from the timeout.
  const auto wait_begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(thrown<StoreTimeoutError>([&] { store->get("never", 100ms); }));
  EXPECT_GE(std::chrono::steady_clock::now() - wait_begin, 100ms);

  server.signal(SIGCONT);
  // Its time is not over yet; and what was asked in the silence was sent.
  EXPECT_EQ(store->add("calls", 1), calls + 1);
  // The server is itself again: the wait is as long as ever, and names the key.
  const auto error = thrown<StoreTimeoutError>([&] { store->get("never", 10ms); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->details().keys, std::vector{"never"s});
  EXPECT_EQ(std::string(error->what()).find("no answer"), std::string::npos) << error->what();
}

TEST(TcpStoreProcesses, AServerObjectInAForkedChildIsHarmless) {
  auto server = std::make_unique<TcpStoreServer>(options_for(0));
  const pid_t child = fork_child([&] {
    server.reset();
    return 0;
  });
  EXPECT_EQ(exit_status(child), 0);
  const auto store = connect_tcp_store(options_for(server->port()));
  store->set_string("key", "value");
  EXPECT_EQ(store->get_string("key"), "value");
}

}  // namespace
}  // namespace parley::test
