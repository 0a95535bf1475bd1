// The doorbell between two processes: thousands of sleeps, and none is too long.
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "tests/multiprocess/support/shared_page.h"
#include "tests/unit/shm/child.h"
#include "tests/unit/shm/pass_descriptors.h"
#include "transport/base/spin.h"
#include "transport/shm/bell.h"

namespace parley::transport::shm {
namespace {

using parley::testing::SharedPage;
using testing::expect;

constexpr int longest_sleep_ms = 20'000;  // a wake-up that has not come by then is lost

// One direction: the number of messages published, and of those read.
struct Direction {
  alignas(128) std::atomic<std::uint32_t> published{0};
  alignas(128) std::atomic<std::uint32_t> read{0};
};
struct Shared {
  Direction to_child;
  Direction to_test;
};

OwnBell made_or_exit() {
  base::Result<OwnBell> made = OwnBell::create();
  expect(made.ok(), "a bell can be made");
  return std::move(made).value();
}

// One of the two processes: its bell, and the other's.
class End {
 public:
  End(Direction& in, Direction& out, const base::UniqueFd& socket)
      : in_(in), out_(out), own_(made_or_exit()) {
    testing::pass_descriptor(socket, own_.page());
    testing::pass_descriptor(socket, own_.event());
    base::UniqueFd page = testing::take_descriptor(socket);
    base::Result<PeerBell> peers = PeerBell::attach(std::move(page), testing::take_descriptor(socket));
    expect(peers.ok(), "the other's bell is one");
    peers_ = std::move(peers).value();
  }

  void publish() {
    out_.published.store(++sent_, std::memory_order_release);
    peers_.ring_if_asleep();
  }
  // Sleeps until a message is there, and at once.
  void receive() {
    while (in_.published.load(std::memory_order_acquire) == received_) {
      own_.announce();
      if (in_.published.load(std::memory_order_acquire) == received_) sleep();
      own_.cancel();
    }
    in_.read.store(++received_, std::memory_order_release);
  }
  // Spins until all that was sent is read: the other is then on its way to sleep.
  void wait_until_read() const {
    std::chrono::steady_clock::time_point end{};
    for (unsigned looks = 1; out_.read.load(std::memory_order_acquire) != sent_; ++looks) {
      base::cpu_relax();
      if (looks % 1024 != 0) continue;
      sched_yield();
      const auto now = std::chrono::steady_clock::now();
      if (looks == 1024) end = now + std::chrono::milliseconds(2 * longest_sleep_ms);
      expect(now < end, "what was sent is read");
    }
  }
  [[nodiscard]] unsigned sleeps() const { return sleeps_; }

 private:
  void sleep() {
    ++sleeps_;
    pollfd watched{own_.event(), POLLIN, 0};
    int ready = 0;
    do ready = poll(&watched, 1, longest_sleep_ms);
    while (ready < 0 && errno == EINTR);
    expect(ready == 1, "a wake-up comes");
  }

  Direction& in_;
  Direction& out_;
  OwnBell own_;
  PeerBell peers_;
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
  unsigned sleeps_ = 0;
};

class TwoProcesses : public ::testing::Test {
 protected:
  SharedPage<Shared> shared_;
  std::pair<base::UniqueFd, base::UniqueFd> sockets_ = testing::make_sockets();
};

TEST_F(TwoProcesses, WakeEachOther) {
  constexpr unsigned rounds = 10'000;
  testing::Child child([&] {
    End end(shared_->to_child, shared_->to_test, sockets_.second);
    for (unsigned i = 0; i < rounds; ++i) {
      end.receive();
      end.publish();
    }
    return std::string();
  });
  sockets_.second.reset();
  End end(shared_->to_test, shared_->to_child, sockets_.first);
  for (unsigned i = 0; i < rounds; ++i) {
    end.publish();
    end.receive();
  }
  EXPECT_EQ(child.finish(), "");
  // How often the answer is there before the sleep is the scheduler's affair.
  EXPECT_GT(end.sleeps(), 100U);
}

// Both are as long about it as their dice say: many a message is published just when its reader goes to
// sleep.
TEST_F(TwoProcesses, LoseNoWakeUpInTheRace) {
  constexpr unsigned rounds = 30'000;
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  const auto dawdle = [](std::minstd_rand& random) {
    for (auto left = random() % 64; left > 0; --left) base::cpu_relax();
  };
  testing::Child child([&] {
    End end(shared_->to_child, shared_->to_test, sockets_.second);
    std::minstd_rand random(seed);
    for (unsigned i = 0; i < rounds; ++i) {
      dawdle(random);
      end.receive();
    }
    return std::string();
  });
  sockets_.second.reset();
  End end(shared_->to_test, shared_->to_child, sockets_.first);
  std::minstd_rand random(seed + 1);
  for (unsigned i = 0; i < rounds; ++i) {
    dawdle(random);
    end.publish();
    end.wait_until_read();
  }
  EXPECT_EQ(child.finish(), "");
}

}  // namespace
}  // namespace parley::transport::shm
