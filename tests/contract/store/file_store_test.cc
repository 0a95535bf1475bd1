// What a file store promises beyond the contract: processes that come, go and die.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "rendezvous/store_file.h"
#include "tests/contract/store/store_fixture.h"

namespace parley::test {
namespace {

using namespace std::string_literals;
namespace fs = std::filesystem;

class FileStore : public testing::Test {
 protected:
  // Runs `action` in a process of its own, which must not return from it with an exception.
  static pid_t start(const std::function<void()>& action) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    try {
      action();
      _exit(0);
    } catch (...) {
      _exit(1);
    }
  }
  static int end_of(pid_t pid) {
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] std::shared_ptr<Store> open() const { return make_file_store(path); }
  [[nodiscard]] std::string refusal() const {
    const auto error = thrown<StoreError>([this] { (void)open(); });
    return error ? error->what() : "";
  }

  const TemporaryFolder folder;
  const std::string path = folder.path() + "/store";
};

TEST_F(FileStore, LivesAsLongAsSomebodyHasItOpen) {
  auto first = open();
  auto second = open();
  first->set_string("key", "value");
  first.reset();
  EXPECT_EQ(second->get_string("key"), "value");
  first = open();
  EXPECT_EQ(first->get_string("key"), "value");
  second.reset();
  first.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(FileStore, WhatAKilledProcessLeftIsNotSeen) {
  EXPECT_EQ(end_of(start([this] {
              open()->set_string("key", "first");  // removed again
              const auto store = open();
              store->set_string("key", "of the dead");
              kill(getpid(), SIGKILL);
            })),
            128 + SIGKILL);
  EXPECT_TRUE(fs::exists(path));
  const auto store = open();
  EXPECT_EQ(store->key_count(), 0U);
}

TEST_F(FileStore, IsTheUsersAlone) {
  const auto store = open();
  struct stat facts {};
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(FileStore, OtherFilesAreNotTouched) {
  std::ofstream(path) << "a letter";
  EXPECT_EQ(refusal(), "store file " + path + ": it holds something else than a store; it is not touched");
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "a letter");
  chmod(path.c_str(), 0620);
  EXPECT_NE(refusal().find("others may write it"), std::string::npos);
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(refusal().find("it is not a regular file"), std::string::npos);
  EXPECT_THROW(make_file_store(folder.path() + "/no/such/folder"), StoreError);
}

TEST_F(FileStore, TheLimitsAreThoseOfTheFirst) {
  const auto first = make_file_store(path, {.value_bytes = 10});
  const auto second = make_file_store(path, {.value_bytes = 100});
  EXPECT_THROW(second->set_string("key", "01234567890"), StoreError);
  second->set_string("key", "0123456789");
}

TEST_F(FileStore, ProcessesCountTogether) {
  constexpr int processes = 8;
  constexpr int rounds = 200;
  const auto store = open();
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i)
    children.push_back(start([this] {
      const auto own = open();
      for (int round = 0; round < rounds; ++round) own->add("sum", 1);
    }));
  for (const pid_t child : children) EXPECT_EQ(end_of(child), 0);
  EXPECT_EQ(store->add("sum", 0), processes * rounds);
}

// Writers die at random moments: nobody hangs, and each of their changes is there whole or not at all.
TEST_F(FileStore, AWriterMayBeKilledAtAnyMoment) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto store = open();
  for (int round = 0; round < 40; ++round) {
    const auto number = std::to_string(round);
    const pid_t writer = start([&] {
      const auto own = open();
      own->set_string("begun/" + number, "");
      for (std::size_t size = 1;; size = size % 5000 + 1) {
        const Store::Value value(size, static_cast<std::byte>(size));
        own->multi_set(std::vector{"a"s, "b"s}, std::vector{value, value});
      }
    });
    store->wait(std::vector{"begun/" + number}, patience);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    kill(writer, SIGKILL);
    EXPECT_EQ(end_of(writer), 128 + SIGKILL);
    store->append("log", bytes("x"));
    if (store->key_count("a") == 0) continue;
    const auto values = store->multi_get(std::vector{"a"s, "b"s});
    ASSERT_EQ(values[0], values[1]) << "round " << round;
    ASSERT_EQ(values[0], Store::Value(values[0].size(), static_cast<std::byte>(values[0].size())));
  }
  EXPECT_EQ(store->get("log").size(), 40U);
}

// A process that was stopped in the middle of a change holds up the others until their deadlines, not longer.
TEST_F(FileStore, ALockedFileIsAnErrorInTime) {
  const auto store = open();
  store->set_string("key", "value");
  rendezvous::StoreFile other(path, {}, base::Deadline::never());
  ASSERT_TRUE(other.try_lock());
  const auto error = thrown<StoreTimeoutError>([&] { store->set_string("key", "new", 10ms); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(), "store set: another process keeps " + path + " locked, key: key");
  other.unlock();
  EXPECT_EQ(store->get_string("key"), "value");
}

// The log is written anew now and then; who has not looked for long does not get lost, nor who waits.
TEST_F(FileStore, DoesNotGrowWithTheNumberOfChanges) {
  const auto store = open();
  const auto late = open();
  store->set_string("kept", "from the beginning");
  store->set_string("removed", "");
  EXPECT_EQ(late->key_count(), 2U);
  store->remove("removed");
  for (int i = 0; i < 2000; ++i) store->set("big", Store::Value(10'000, static_cast<std::byte>(i)));
  EXPECT_EQ(late->get_string("kept"), "from the beginning");
  EXPECT_EQ(late->key_count(), 2U);
  EXPECT_EQ(late->get("big"), Store::Value(10'000, static_cast<std::byte>(1999 % 256)));
  EXPECT_EQ(open()->get_string("kept"), "from the beginning");
  struct stat facts {};
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_LT(facts.st_blocks * 512, 12 << 20) << "of " << facts.st_size;
}

// As when the disk is full: the limit of a file's size stands in for it.
TEST_F(FileStore, AFailedWriteChangesNothing) {
  const auto store = open();
  store->set_string("key", "old");
  const pid_t child = start([this] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{8192, 8192};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto own = open();
    try {
      own->set("key", Store::Value(10'000));
    } catch (const StoreError& error) {
      if (std::string(error.what()).find("writing it") == std::string::npos) _exit(3);
      if (own->get_string("key") != "old") _exit(4);
      own->set_string("key", "new");
      _exit(0);
    }
    _exit(5);
  });
  EXPECT_EQ(end_of(child), 0);
  EXPECT_EQ(store->get_string("key"), "new");
}

TEST_F(FileStore, AForkedChildLeavesItAlone) {
  const auto store = open();
  store->set_string("key", "value");
  auto own = open();
  EXPECT_EQ(end_of(start([&] {
              EXPECT_THROW(own->get("key"), ForkedError);
              own.reset();
              _exit(testing::Test::HasFailure() ? 1 : 0);
            })),
            0);
  EXPECT_TRUE(fs::exists(path));
  own->set_string("key", "still ours");
  EXPECT_EQ(store->get_string("key"), "still ours");
}

// Openers race with the last one to leave, who removes the file: nobody ends up in a file without a name.
TEST_F(FileStore, OpeningRacesWithTheLastToLeave) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(start([this] {
      for (int round = 0; round < 200; ++round) {
        const auto own = open();
        own->add("opened", 1);
        if (!fs::exists(path)) _exit(2);
      }
    }));
  for (const pid_t child : children) EXPECT_EQ(end_of(child), 0);
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace parley::test
