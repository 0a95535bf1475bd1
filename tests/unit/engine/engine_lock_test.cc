#include "transport/engine/engine_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/spin.h"

namespace parley::transport {
namespace {

// More often than a thread has to take it, one time after the other, to become its owner.
constexpr int times_to_own = 2000;

void come_to_own(EngineLock& lock) {
  for (int i = 0; i < times_to_own; ++i) {
    lock.lock();
    lock.unlock();
  }
}

// The counter is no atomic: an increment that another thread interrupts is lost, and shows in the sum.
TEST(EngineLock, ExcludesAndLetsContendersIn) {
  constexpr long contenders = 3;
  constexpr long turns = 2000;
  EngineLock lock;
  long counter = 0;
  long polls = 0;
  long yields = 0;
  std::atomic<bool> polling{false};
  std::atomic<bool> stop{false};
  // A poller that holds the lock all the time but for its yields.
  std::thread poller([&] {
    lock.lock();
    polling = true;
    while (!stop.load()) {
      ++counter;
      ++polls;
      if (!lock.contended()) continue;
      ++yields;
      lock.yield();
    }
    lock.unlock();
  });
  while (!polling) std::this_thread::yield();
  std::vector<std::thread> threads;
  for (long thread = 0; thread < contenders; ++thread) {
    threads.emplace_back([&] {
      for (long turn = 0; turn < turns; ++turn) {
        lock.lock();
        ++counter;
        lock.unlock();
      }
    });
  }
  for (auto& thread : threads) thread.join();  // each got its turns
  stop = true;
  poller.join();
  EXPECT_EQ(counter, polls + contenders * turns);
  EXPECT_GE(yields, 1) << "nobody got in without";
}

// The lock is let go while the other one spins, while it falls asleep, and while it sleeps.
class Holder : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(EngineLock, Holder, testing::Bool(),
                         [](const auto& owns) { return owns.param ? "IsTheOwner" : "IsAnyThread"; });

TEST_P(Holder, WakesWhoFellAsleepForTheLock) {
  constexpr int rounds = 500;
  struct Shared {  // with a thread that nobody wakes, if it comes to that
    EngineLock lock;
    std::atomic<int> wanted{0};
    std::atomic<int> got{0};
  };
  const auto shared = std::make_shared<Shared>();
  std::thread other([shared] {
    for (int round = 1; round <= rounds; ++round) {
      while (shared->wanted.load() != round) std::this_thread::yield();
      shared->lock.lock();
      shared->lock.unlock();
      shared->got = round;
    }
  });
  for (int round = 1; round <= rounds; ++round) {
    if (GetParam()) come_to_own(shared->lock);
    shared->lock.lock();
    shared->wanted = round;
    const auto until = base::Deadline::after(std::chrono::microseconds(8 * round));
    while (!until.expired()) base::cpu_relax();
    shared->lock.unlock();
    const auto deadline = base::Deadline::after(std::chrono::seconds(20));
    while (shared->got.load() != round) {
      if (deadline.expired()) {
        other.detach();
        FAIL() << "not woken in round " << round;
      }
      std::this_thread::yield();
    }
  }
  other.join();
}

// As above, with a poller that becomes the owner again and again, and loses it to each of the others.
TEST(EngineLock, ExcludesItsOwnerToo) {
  constexpr int rounds = 300;
  EngineLock lock;
  long counter = 0;
  long owned = 0;
  std::atomic<bool> stop{false};
  std::thread owner([&] {
    for (; !stop.load(); ++owned) {
      lock.lock();
      ++counter;
      lock.unlock();
    }
  });
  const auto intrude = [&] {
    for (int round = 0; round < rounds; ++round) {
      const auto until = base::Deadline::after(std::chrono::microseconds(round));
      while (!until.expired()) base::cpu_relax();
      lock.lock();
      ++counter;
      lock.unlock();
    }
  };
  std::thread other(intrude);
  intrude();
  other.join();
  stop = true;
  owner.join();
  EXPECT_EQ(counter, owned + 2 * rounds);
}

// Who tries in vain has made the owner none, and must not let a third one in beside it.
TEST(EngineLock, ExcludesItsOwnerBesideOneWhoTries) {
  constexpr int rounds = 2000;
  EngineLock lock;
  std::atomic<int> holders{0};
  std::atomic<int> meetings{0};
  std::atomic<int> round{0};
  std::atomic<int> over{0};
  const auto stay = [&](int spins) {
    if (holders.fetch_add(1) != 0) ++meetings;
    for (int i = 0; i < spins; ++i) base::cpu_relax();
    holders.fetch_sub(1);
  };
  std::thread intruder([&] {
    for (int next = 1; next <= rounds; ++next) {
      while (round.load() < next) std::this_thread::yield();
      bool got_it = false;
      for (int tries = 10 * (next % 100); tries-- > 0 && !got_it;) got_it = lock.try_lock();
      if (!got_it) lock.lock();
      stay(1);
      lock.unlock();
      over = next;
    }
  });
  for (int next = 1; next <= rounds; ++next) {
    come_to_own(lock);
    round = next;
    for (int pause = 0; over.load() != next; pause = (pause + 1) % 5) {
      for (int i = 0; i < pause; ++i) base::cpu_relax();
      lock.lock();
      stay(500);
      lock.unlock();
    }
  }
  intruder.join();
  EXPECT_EQ(meetings, 0);
}

TEST(EngineLock, IsTriedInVainWhileItsOwnerHoldsIt) {
  EngineLock lock;
  come_to_own(lock);
  lock.lock();
  std::thread([&] { EXPECT_FALSE(lock.try_lock()); }).join();
  lock.unlock();
  std::thread([&] {
    ASSERT_TRUE(lock.try_lock());
    lock.unlock();
  }).join();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

// Threads that come one after the other may stand at the same place, and so have the same name. Nothing but
// the lock orders them.
TEST(EngineLock, OutlivesItsOwner) {
  struct Shared {  // with threads that are not waited for
    EngineLock lock;
    long counter = 0;
  };
  const auto shared = std::make_shared<Shared>();
  constexpr long threads = 8;
  for (long thread = 1; thread <= threads; ++thread) {
    std::thread([shared] {
      come_to_own(shared->lock);
      shared->lock.lock();
      ++shared->counter;
      shared->lock.unlock();
    }).detach();
    for (bool done = false; !done;) {
      std::this_thread::yield();
      shared->lock.lock();
      done = shared->counter == thread;
      shared->lock.unlock();
    }
  }
}

}  // namespace
}  // namespace parley::transport
