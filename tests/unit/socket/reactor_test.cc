#include "transport/socket/reactor.h"

#include <gtest/gtest.h>
#include <parley/error.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <thread>

#include "transport/base/unique_fd.h"
#include "transport/socket/reactor_context.h"

namespace parley::socket {
namespace {

using namespace std::chrono_literals;

// Long enough never to pass in a good run, short enough to end a bad one.
base::Deadline guard() {
  return base::Deadline::after(30s);
}

bool readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

TEST(Reactor, ARingBetweenAnnounceAndSleepEndsTheSleep) {
  Reactor reactor;
  const auto deadline = guard();
  for (int i = 0; i < 100; ++i) {
    reactor.announce_sleep();
    reactor.ring();
    reactor.sleep(deadline);
    ASSERT_FALSE(deadline.expired());
  }
}

TEST(Reactor, ARingWithoutASleeperLeavesNothingBehind) {
  Reactor reactor;
  reactor.ring();
  EXPECT_FALSE(readable(reactor.descriptor()));
  reactor.announce_sleep();
  reactor.cancel_sleep();
  reactor.ring();
  EXPECT_FALSE(readable(reactor.descriptor()));
}

TEST(Reactor, ASleepEmptiesTheDoorbell) {
  Reactor reactor;
  reactor.announce_sleep();
  reactor.ring();
  EXPECT_TRUE(readable(reactor.descriptor()));
  reactor.sleep(guard());
  EXPECT_FALSE(readable(reactor.descriptor()));
  const auto deadline = base::Deadline::after(20ms);
  reactor.announce_sleep();
  reactor.sleep(deadline);
  EXPECT_TRUE(deadline.expired());
}

TEST(Reactor, TheDeadlineEndsTheSleep) {
  Reactor reactor;
  const auto passed = base::Deadline::after(0ns);
  reactor.announce_sleep();
  reactor.sleep(passed);
  const auto soon = base::Deadline::after(10ms);
  reactor.announce_sleep();
  reactor.sleep(soon);
  EXPECT_TRUE(soon.expired());
}

TEST(Reactor, AWatchedDescriptorEndsEverySleepUntilItIsRead) {
  Reactor reactor;
  const base::UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  reactor.watch(event.get());
  ASSERT_EQ(eventfd_write(event.get(), 1), 0);
  const auto deadline = guard();
  for (int i = 0; i < 3; ++i) {
    reactor.announce_sleep();
    reactor.sleep(deadline);
    ASSERT_FALSE(deadline.expired());
    EXPECT_TRUE(readable(reactor.descriptor()));
  }
  eventfd_t value = 0;
  ASSERT_EQ(eventfd_read(event.get(), &value), 0);
  const auto soon = base::Deadline::after(20ms);
  reactor.announce_sleep();
  reactor.sleep(soon);
  EXPECT_TRUE(soon.expired());

  // Readable again after a sleep that ended by its deadline: the wait from before is still armed.
  ASSERT_EQ(eventfd_write(event.get(), 1), 0);
  reactor.announce_sleep();
  reactor.sleep(deadline);
  EXPECT_FALSE(deadline.expired());
}

TEST(Reactor, AnUnwatchedDescriptorIsIgnored) {
  Reactor reactor;
  const base::UniqueFd event(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  reactor.watch(event.get());
  reactor.unwatch(event.get());
  const auto soon = base::Deadline::after(20ms);
  reactor.announce_sleep();
  reactor.sleep(soon);
  EXPECT_TRUE(soon.expired());
}

TEST(Reactor, PollRunsWhatIsReadyAndNeverWaits) {
  Reactor reactor;
  EXPECT_EQ(reactor.poll(), 0u);
  int runs = 0;
  asio::post(reactor.impl().context, [&] { ++runs; });
  asio::post(reactor.impl().context, [&] { ++runs; });
  EXPECT_EQ(reactor.poll(), 2u);
  EXPECT_EQ(runs, 2);
}

TEST(Reactor, ATimerEndsASleep) {
  Reactor reactor;
  asio::steady_timer timer(reactor.impl().context, 5ms);
  bool ran = false;
  timer.async_wait([&](const asio::error_code&) { ran = true; });
  const auto deadline = guard();
  while (!ran && !deadline.expired()) {
    reactor.announce_sleep();
    reactor.sleep(deadline);
  }
  EXPECT_TRUE(ran);
}

TEST(Reactor, WorkStartedByAnotherThreadEndsASleep) {
  Reactor reactor;
  bool ran = false;
  std::thread other([&] { asio::post(reactor.impl().context, [&] { ran = true; }); });
  const auto deadline = guard();
  while (!ran && !deadline.expired()) {
    reactor.announce_sleep();
    reactor.sleep(deadline);
  }
  other.join();
  EXPECT_TRUE(ran);
}

// Work is published just before the ring; a lost wake-up would leave the sleeper there until the guard. Where
// a hundred others want the core a round takes 100 ms, and there are fewer of them.
TEST(Reactor, NoRingOfAnotherThreadIsLost) {
  constexpr int most_rounds = 2000;
  Reactor reactor;
  std::atomic<int> work{0}, seen{0};
  std::atomic<bool> is_done{false};
  const auto deadline = guard();
  std::thread ringer([&] {
    const auto enough = base::Deadline::after(5s);
    for (int i = 1; i <= most_rounds && !enough.expired(); ++i) {
      work.store(i, std::memory_order_release);
      reactor.ring();
      while (seen.load(std::memory_order_acquire) < i && !deadline.expired()) std::this_thread::yield();
    }
    is_done.store(true, std::memory_order_release);
    reactor.ring();
  });
  while (!is_done.load(std::memory_order_acquire) && !deadline.expired()) {
    reactor.announce_sleep();
    if (work.load(std::memory_order_acquire) > seen.load(std::memory_order_relaxed) ||
        is_done.load(std::memory_order_acquire))
      reactor.cancel_sleep();
    else
      reactor.sleep(deadline);
    seen.store(work.load(std::memory_order_acquire), std::memory_order_release);
  }
  ringer.join();
  EXPECT_GT(work.load(), 0);
  EXPECT_EQ(seen.load(), work.load());
  EXPECT_FALSE(deadline.expired());
}

TEST(Reactor, ADescriptorIsWatchedOnce) {
  Reactor reactor;
  const base::UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  reactor.watch(event.get());
  EXPECT_THROW(reactor.watch(event.get()), SystemError);
}

TEST(Reactor, DestroyedWithASleepsWaitStillArmed) {
  Reactor reactor;
  reactor.announce_sleep();
  reactor.sleep(base::Deadline::after(1ms));
}

}  // namespace
}  // namespace parley::socket
