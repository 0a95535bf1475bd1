#include "transport/base/threads.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace parley::base {
namespace {

// Calls `look` while a thread that `start` has started lives.
void with_thread(const std::function<std::thread(std::function<void()>)>& start,
                 const std::function<void()>& look) {
  std::atomic<bool> runs{false};
  std::atomic<bool> end{false};
  std::thread thread = start([&] {
    runs = true;
    while (!end) std::this_thread::yield();
  });
  while (!runs) std::this_thread::yield();
  look();
  end = true;
  thread.join();
}

std::thread own(std::function<void()> body) {
  return start_own_thread("test", std::move(body));
}

std::thread of_the_program(const std::function<void()>& body) {
  return std::thread([body] {
    pthread_setname_np(pthread_self(), "parley-double");
    sigset_t none;  // a thread inherits what its starter blocks, and ThreadSanitizer's are told by that
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    body();
  });
}

TEST(Threads, OwnOnesAreNotTheProgramsWhateverTheyAreCalled) {
  const std::size_t before = count_program_threads();
  with_thread(own, [&] {
    EXPECT_EQ(count_program_threads(), before);
    EXPECT_EQ(count_threads(), before + 1);
  });
  with_thread(of_the_program, [&] { EXPECT_EQ(count_program_threads(), before + 1); });
}

TEST(Threads, OneThatAnOwnOneStartsIsTheProgramsAgain) {
  const std::size_t before = count_program_threads();
  // Who starts an own thread blocks its signals meanwhile, and would be taken for ThreadSanitizer's.
  std::atomic<bool> has_started{false};
  std::thread thread = start_own_thread("test", [&] {
    while (!has_started) std::this_thread::yield();
    with_thread(of_the_program, [&] { EXPECT_EQ(count_program_threads(), before + 1); });
  });
  has_started = true;
  thread.join();
}

TEST(Threads, AForkedChildHasNoneOfItsParents) {
  with_thread(own, [] {
    const pid_t child = fork();
    if (child == 0) _exit(static_cast<int>(count_program_threads()));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 1);
  });
}

// Holds the address space, for which an ending thread waits after it has woken whoever joins it.
void hold_address_space(const std::atomic<bool>& end) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  while (!end) {
    mprotect(memory, bytes, PROT_READ);
    mprotect(memory, bytes, PROT_READ | PROT_WRITE);
  }
  munmap(memory, bytes);
}

TEST(Threads, OneThatWasJoinedIsNotCountedHoweverLongItTakesToEnd) {
  std::atomic<bool> end{false};
  std::thread holder([&] { hold_address_space(end); });
  const std::size_t before = count_threads();
  for (int thread = 0; thread < 100; ++thread) {
    std::thread([] {}).join();
    EXPECT_EQ(count_threads(), before);
  }
  end = true;
  holder.join();
}

TEST(Threads, OwnOnesAreNamedAndTakeNoSignals) {
  start_own_thread("test", [] {
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    EXPECT_STREQ(name.data(), "parley-test");
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
    EXPECT_EQ(sigismember(&blocked, SIGUSR1), 1);
  }).join();
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 0);
}

}  // namespace
}  // namespace parley::base
