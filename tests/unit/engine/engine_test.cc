#include "transport/engine/engine.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/engine/bare_transport.h"
#include "transport/base/deadline.h"
#include "transport/inproc/inproc_hub.h"
#include "transport/inproc/inproc_transport.h"

namespace parley::transport {
namespace {

// Two engines linked within the process.
struct TwoEngines {
  TwoEngines() {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      EngineOptions options;
      options.messenger.self = rank;
      options.messenger.peer_count = 2;
      engines[rank] = std::make_unique<Engine>(options);
      transports[rank] =
          &engines[rank]->add(std::make_unique<InprocTransport>(hub, rank, &engines[rank]->reactor()));
    }
    engines[1]->locked(
        [&](Messenger&) { transports[1]->connect(0, transports[0]->address(), base::Deadline::never()); });
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const auto linked = [rank](Messenger& m) { return m.peer(1 - rank).state == PeerState::up; };
      while (!engines[rank]->wait_until(linked, std::chrono::milliseconds(1))) engines[1 - rank]->progress();
    }
  }
  Request& receive(std::uint32_t at, std::int64_t tag, std::byte& into, bool background) {
    ReceiveSpec spec;
    spec.pattern = {0, 1 - at, tag};
    spec.data = &into;
    spec.capacity_bytes = 1;
    spec.timeout = std::chrono::hours(1);
    return *engines[at]->receive(spec, background).request;
  }
  void send(std::uint32_t from, std::int64_t tag, const std::byte& value) {
    SendSpec spec;
    spec.destination = 1 - from;
    spec.tag = tag;
    spec.data = &value;
    spec.bytes = 1;
    spec.timeout = std::chrono::hours(1);
    EXPECT_TRUE(engines[from]->send(spec, false).status.ok());
  }
  void release(std::uint32_t at, Request& request) {
    engines[at]->locked([&](Messenger& messenger) { messenger.release(request); });
  }

  InprocHub hub;
  std::unique_ptr<Engine> engines[2];
  Transport* transports[2];
};

// Whether the kernel has put a thread of this process to sleep.
bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.compare(name_end, 3, ") S") == 0;
}

TEST(Engine, ASleepingWaiterIsWokenByTheMessage) {
  TwoEngines two;
  std::byte in{0};
  Request& request = two.receive(1, 1, in, false);
  std::atomic<pid_t> sleeper{0};
  std::thread waiter([&] {
    sleeper = gettid();
    EXPECT_TRUE(two.engines[1]->wait(request, std::chrono::seconds(60)));
  });
  const auto deadline = base::Deadline::after(std::chrono::seconds(30));
  while ((sleeper == 0 || !is_asleep(sleeper)) && !deadline.expired()) std::this_thread::yield();
  EXPECT_FALSE(deadline.expired()) << "the waiter does not sleep";
  two.send(0, 1, std::byte{5});
  waiter.join();
  EXPECT_EQ(in, std::byte{5});
  two.release(1, request);
}

TEST(Engine, ManyWaitersEachGetTheirs) {
  TwoEngines two;
  constexpr int count = 8;
  std::byte in[count] = {};
  std::vector<Request*> requests;
  for (int i = 0; i < count; ++i) requests.push_back(&two.receive(1, i, in[i], false));
  std::vector<std::thread> waiters;
  for (int i = 0; i < count; ++i)
    waiters.emplace_back([&, i] {
      EXPECT_TRUE(two.engines[1]->wait(*requests[static_cast<std::size_t>(i)], std::chrono::seconds(30)));
      EXPECT_EQ(in[i], static_cast<std::byte>(i + 1));
    });
  for (int i = count; i-- > 0;) two.send(0, i, static_cast<std::byte>(i + 1));
  for (auto& waiter : waiters) waiter.join();
  for (Request* request : requests) two.release(1, *request);
}

TEST(Engine, PendingOperationsAdvanceWhileNobodyWaits) {
  TwoEngines two;
  std::byte in{0};
  Request& request = two.receive(1, 1, in, true);
  two.send(0, 1, std::byte{5});
  bool done = false;
  const auto deadline = base::Deadline::after(std::chrono::seconds(30));
  while (!done && !deadline.expired())  // only looks; it is the background thread that polls
    done = two.engines[1]->inspect([&](const Messenger&) { return request.state == RequestState::done; });
  EXPECT_TRUE(done);
  two.release(1, request);
}

TEST(Engine, AWaitThatGivesUpLeavesTheOperationPending) {
  TwoEngines two;
  std::byte in{0};
  Request& request = two.receive(1, 1, in, false);
  EXPECT_FALSE(two.engines[1]->wait(request, std::chrono::milliseconds(5)));
  EXPECT_EQ(request.state, RequestState::posted);
  two.send(0, 1, std::byte{6});
  EXPECT_TRUE(two.engines[1]->wait(request, std::chrono::seconds(30)));
  EXPECT_EQ(in, std::byte{6});
  two.release(1, request);
}

TEST(Engine, AnAbortReleasesAllWaiters) {
  TwoEngines two;
  std::byte in[4] = {};
  std::vector<Request*> requests;
  for (int i = 0; i < 4; ++i) requests.push_back(&two.receive(1, i, in[i], false));
  std::vector<std::thread> waiters;
  for (Request* request : requests)
    waiters.emplace_back([&two, request] {
      EXPECT_TRUE(two.engines[1]->wait(*request, std::chrono::seconds(30)));
      EXPECT_EQ(request->status.code(), base::Code::aborted);
    });
  two.engines[1]->abort_context(0, "test");
  for (auto& waiter : waiters) waiter.join();
  for (Request* request : requests) two.release(1, *request);
}

TEST(Engine, TheDescriptorTurnsReadableForAMessage) {
  TwoEngines two;
  std::byte in{0};
  Request& request = two.receive(1, 1, in, false);
  pollfd descriptor{two.engines[1]->descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&descriptor, 1, 0), 1) << "there may be something before the first look";
  while (two.engines[1]->progress() != 0) {
  }
  EXPECT_EQ(poll(&descriptor, 1, 0), 0);
  two.send(0, 1, std::byte{5});
  EXPECT_EQ(poll(&descriptor, 1, 30'000), 1);
  while (request.state != RequestState::done) two.engines[1]->progress();
  EXPECT_EQ(in, std::byte{5});
  while (two.engines[1]->progress() != 0) {
  }
  EXPECT_EQ(poll(&descriptor, 1, 0), 0) << "silent again";
  two.release(1, request);
}

// The background thread may take the event: the loop is told all the same.
TEST(Engine, TheDescriptorTurnsReadableForWhatAnotherThreadReceived) {
  TwoEngines two;
  pollfd descriptor{two.engines[1]->descriptor(), POLLIN, 0};
  for (int round = 0; round < 200; ++round) {
    std::byte in{0};
    Request& request = two.receive(1, round, in, true);
    while (two.engines[1]->progress() != 0) {
    }
    two.send(0, round, std::byte{5});
    const auto done = [&] {
      return two.engines[1]->inspect([&](const Messenger&) { return request.state == RequestState::done; });
    };
    while (!done()) {
      ASSERT_EQ(poll(&descriptor, 1, 30'000), 1) << "round " << round;
      while (two.engines[1]->progress() != 0) {
      }
    }
    two.release(1, request);
  }
}

// Announces its sleep as transports do whose peers look at a word: every look takes that back.
class AnnouncingTransport final : public BareTransport {
 public:
  std::size_t progress(Endpoint*) noexcept override {
    is_announced = false;
    ++looks;
    if (events_left > 0) return --events_left, 1;
    return events;
  }
  bool arm() noexcept override {
    is_announced = true;
    return true;
  }

  std::atomic<bool> is_announced{false};
  std::atomic<int> looks{0};
  std::size_t events = 0;           // that each look finds
  std::atomic<int> events_left{0};  // that the next looks find, one each
};

struct AnAnnouncingEngine {
  AnAnnouncingEngine() : engine(one_alone()) {
    auto owned = std::make_unique<AnnouncingTransport>();
    transport = owned.get();
    engine.add(std::move(owned));
  }
  static EngineOptions one_alone() {
    EngineOptions options;
    options.messenger.peer_count = 1;
    return options;
  }
  // A user's event loop that has nothing to do sleeps on the descriptor.
  void let_loop_sleep() {
    loop.fd = engine.descriptor();
    while (engine.progress() != 0) {
    }
    ASSERT_TRUE(transport->is_announced);
    ASSERT_FALSE(loop_is_woken());
  }
  bool loop_is_woken() { return poll(&loop, 1, 0) == 1; }

  Engine engine;
  AnnouncingTransport* transport;
  pollfd loop{-1, POLLIN, 0};
};

TEST(Engine, WhoFindsWhatItWaitsForLooksAtTheOthersNowAndThen) {
  AnAnnouncingEngine one;
  auto owned = std::make_unique<AnnouncingTransport>();
  const AnnouncingTransport& other = *owned;
  one.engine.add(std::move(owned));
  one.transport->events = 1;
  const auto wait = [&] {
    const int seen = one.transport->looks;
    one.engine.wait_until([&](const Messenger&) { return one.transport->looks > seen; },
                          std::chrono::seconds(1));
  };
  for (int i = 0; i < 160; ++i) wait();
  one.transport->events = 0;  // or it would never be closed
  EXPECT_EQ(one.transport->looks, 160);
  EXPECT_EQ(other.looks, 10);
}

TEST(Engine, ALookOfAnotherThreadWakesTheLoopThatHasAnnouncedItsSleep) {
  AnAnnouncingEngine one;
  one.let_loop_sleep();
  std::thread([&] { one.engine.poll(); }).join();
  EXPECT_FALSE(one.transport->is_announced);
  EXPECT_TRUE(one.loop_is_woken());
  one.let_loop_sleep();
}

TEST(Engine, AWaitThatEndsBeforeItSleepsWakesTheLoop) {
  AnAnnouncingEngine one;
  one.let_loop_sleep();
  std::thread([&] {
    one.engine.wait_until([](const Messenger&) { return false; }, std::chrono::nanoseconds(1));
  }).join();
  EXPECT_TRUE(one.loop_is_woken());
}

TEST(Engine, ThePulseWakesTheLoop) {
  AnAnnouncingEngine one;
  one.engine.start_pulse();
  one.let_loop_sleep();
  EXPECT_EQ(poll(&one.loop, 1, 30'000), 1) << "what comes now would not be told";
}

// A death is heard, then seen, then told: by one look of a thread that looks once a second.
TEST(Engine, ThePulseFollowsUpWhatItFinds) {
  AnAnnouncingEngine one;
  one.transport->events_left = 3;
  const auto begin = base::Clock::now();
  one.engine.start_pulse();
  while (one.transport->events_left > 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto first = base::Clock::now();
  while (one.transport->events_left > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_LT(base::Clock::now() - first, first - begin) << "the next ones were found by later looks";
}

// One link, whose peer breaks the protocol when it is told to; a link that was closed ends at the look after.
class BrokenLinkTransport final : public BareTransport {
 public:
  std::size_t progress(Endpoint*) noexcept override {
    if (link.is_closed && !has_ended) {
      sink_->on_closed(link, base::Code::closed);
      has_ended = true;
    } else if (!std::exchange(is_up, true)) {
      sink_->on_link(1, link);
    } else if (breaks && !link.is_closed) {
      sink_->on_packet(link, {.kind = PacketKind::credit, .credits = 1}, {});  // that nobody has taken
    } else {
      return 0;
    }
    return 1;
  }
  [[nodiscard]] bool unsent() const noexcept override { return link.is_closed && !has_ended; }

  struct Link final : BareLink {
    void close() noexcept override { is_closed = true; }
    std::atomic<bool> is_closed{false};
  };
  Link link;
  bool is_up = false;
  std::atomic<bool> breaks{false};
  std::atomic<bool> has_ended{false};
};

TEST(Engine, ALinkThatItHasClosedEndsThoughNobodyCalls) {
  EngineOptions options;
  options.messenger.peer_count = 2;
  Engine engine(options);
  auto owned = std::make_unique<BrokenLinkTransport>();
  BrokenLinkTransport& transport = *owned;
  engine.add(std::move(owned));
  // A wait that ends with nothing left to do ...
  const auto is_up = [&](const Messenger&) { return transport.is_up; };
  ASSERT_TRUE(engine.wait_until(is_up, std::chrono::seconds(30)));
  // ... and one that ends when the link was closed.
  transport.breaks = true;
  const auto is_closed = [&](const Messenger&) { return transport.link.is_closed.load(); };
  ASSERT_TRUE(engine.wait_until(is_closed, std::chrono::seconds(30)));
  const auto deadline = base::Deadline::after(std::chrono::seconds(30));
  while (!transport.has_ended && !deadline.expired()) std::this_thread::yield();
  EXPECT_TRUE(transport.has_ended) << "the background thread was not asked to look";
}

}  // namespace
}  // namespace parley::transport
