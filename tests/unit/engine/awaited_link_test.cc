// A waiter looks at the link it waits for more often than at all the rest.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "tests/unit/engine/bare_transport.h"
#include "transport/engine/engine.h"
#include "transport/engine/quick_looks.h"

namespace parley::transport {
namespace {

constexpr auto long_enough = std::chrono::seconds(30);

// One link, to process 1, on which a message of one byte arrives after so many looks at it, or passes.
class LookedAtTransport final : public BareTransport {
 public:
  std::size_t progress(Endpoint*) noexcept override {
    if (!std::exchange(is_up_, true)) {
      sink_->on_link(1, link);
      return 1;
    }
    const bool is_its_pass = ++passes == pass_of_message;
    return is_its_pass || (is_due && looks_before_message <= 0) ? deliver() : 0;
  }
  [[nodiscard]] bool unsent() const noexcept override { return has_unsent; }

  struct Link final : BareLink {
    explicit Link(LookedAtTransport& owner) : transport(owner) { has_quick_look = true; }
    std::size_t take_arrived() noexcept override { return transport.look(); }
    LookedAtTransport& transport;
  };

  Link link{*this};
  int looks = 0;
  int passes = 0;
  int looks_before_message = 0;
  int pass_of_message = 0;  // 0: none
  bool is_due = false;      // after those looks
  std::int64_t tag = 0;     // of the next message
  bool has_unsent = false;

 private:
  std::size_t look() noexcept {
    ++looks;
    return --looks_before_message < 0 && is_due ? deliver() : 0;
  }
  std::size_t deliver() noexcept {
    is_due = false;
    const std::byte one{1};
    sink_->on_packet(
        link,
        {.kind = PacketKind::eager, .tag = std::exchange(tag, 0), .payload_bytes = 1, .message_bytes = 1},
        {&one, 1});
    return 1;
  }

  bool is_up_ = false;
};

class AwaitedLink : public testing::Test {
 protected:
  explicit AwaitedLink(bool core_per_rank = true) : engine_(options()) {
    engine_.set_core_per_rank(core_per_rank);
    auto owned = std::make_unique<LookedAtTransport>();
    transport_ = owned.get();
    engine_.add(std::move(owned));
    const auto is_up = [](const Messenger& m) { return m.peer(1).state == PeerState::up; };
    EXPECT_TRUE(engine_.wait_until(is_up, long_enough));
  }
  static EngineOptions options() {
    EngineOptions options;
    options.messenger.peer_count = 2;
    options.background = false;  // it would make passes, too
    return options;
  }
  // Receives what comes after so many looks in vain.
  void receive_after(int looks) {
    transport_->looks_before_message = looks;
    transport_->is_due = true;
    receive();
  }
  void receive() {
    transport_->looks = transport_->passes = 0;
    std::byte in{0};
    ReceiveSpec spec;
    spec.pattern = {0, 1, 0};
    spec.data = &in;
    spec.capacity_bytes = 1;
    spec.timeout = long_enough;
    Engine::Visit visit(engine_);
    Request& request = *visit.receive(spec, false).request;
    ASSERT_TRUE(visit.wait(request, long_enough));
    EXPECT_EQ(in, std::byte{1});
    visit.messenger().release(request);
  }
  void send() {
    const std::byte out{1};
    SendSpec spec;
    spec.destination = 1;
    spec.data = &out;
    spec.bytes = 1;
    spec.timeout = long_enough;
    EXPECT_TRUE(engine_.send(spec, false).status.ok());
  }

  Engine engine_;
  LookedAtTransport* transport_;
};

TEST_F(AwaitedLink, FindsWhatIsThereBeforeAnythingElseIsLookedAt) {
  receive_after(0);
  EXPECT_EQ(transport_->looks, 1);
  EXPECT_EQ(transport_->passes, 0);
}

TEST_F(AwaitedLink, AlternatesWithPassesOverEverything) {
  constexpr int passes = 20;
  receive_after(passes * static_cast<int>(QuickLooks::most));
  EXPECT_EQ(transport_->passes, passes);
}

TEST_F(AwaitedLink, WhoAlwaysFindsSomethingAtOnceLooksAtTheOthersNowAndThen) {
  int passes = 0;
  for (int i = 0; i < 160; ++i) {
    receive_after(0);
    passes += transport_->passes;
  }
  EXPECT_EQ(passes, 40);
}

TEST_F(AwaitedLink, WhatIsNotAwaitedIsFollowedByAPass) {
  transport_->tag = 7;
  transport_->looks_before_message = 0;
  transport_->is_due = true;
  transport_->pass_of_message = 1;
  receive();
  EXPECT_EQ(transport_->looks, 1);
  EXPECT_EQ(transport_->passes, 1);
}

TEST_F(AwaitedLink, IsLookedAtOncePerPassWhereOthersAreLookedAtWithEach) {
  struct NoWatcher final : Watcher {
    bool look() noexcept override { return false; }
  } watcher;
  {
    Engine::Visit visit(engine_);
    engine_.watch(watcher);
  }
  transport_->pass_of_message = 3;
  receive();
  EXPECT_EQ(transport_->looks, 3);
  WatcherList::remove(watcher);
}

struct AwaitedLinkOfSharedCore : AwaitedLink {
  AwaitedLinkOfSharedCore() : AwaitedLink(false) {}
};

TEST_F(AwaitedLinkOfSharedCore, IsLookedAtOncePerPass) {
  transport_->pass_of_message = 3;
  receive();
  EXPECT_EQ(transport_->looks, 3) << "its peer may want the core";
}

TEST_F(AwaitedLink, OnlyPassesWhereSomethingWasUnsent) {
  transport_->has_unsent = true;
  send();
  transport_->pass_of_message = 3;
  receive();
  EXPECT_EQ(transport_->looks, 0);
  EXPECT_EQ(transport_->passes, 3);
  transport_->has_unsent = false;
}

}  // namespace
}  // namespace parley::transport
