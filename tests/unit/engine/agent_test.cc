// Who goes on under the engine's lock, at the end of a look at the network; and who runs what follows.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "transport/engine/engine.h"

namespace parley::transport {
namespace {

EngineOptions without_background() {
  EngineOptions options;
  options.background = false;
  return options;
}

// Advances so many times in a row.
struct Busy final : Agent {
  Busy(Engine& of, int times) : engine(of), left(times) {}
  void advance() noexcept override {
    ++advanced;
    if (--left > 0) engine.wake(*this);
  }
  Engine& engine;
  int left;
  int advanced = 0;
};

void wake(Engine& engine, Agent& agent) {
  engine.locked([&](Messenger&) { engine.wake(agent); });
}

TEST(Agent, AdvancesOnceForEachLookHoweverOftenItIsWoken) {
  Engine engine(without_background());
  Busy agent(engine, 1);
  EXPECT_EQ(engine.poll(), 0U);
  wake(engine, agent);
  wake(engine, agent);
  EXPECT_NE(engine.poll(), 0U) << "who looks in place of callers shall look again";
  EXPECT_EQ(agent.advanced, 1);
  EXPECT_EQ(engine.poll(), 0U);
}

TEST(Agent, ThatHasMuchToDoTakesTurnsWithTheNetworkAndWithOthers) {
  Engine engine(without_background());
  Busy busy(engine, 3), other(engine, 1);
  wake(engine, busy);
  wake(engine, other);
  engine.poll();
  EXPECT_EQ(busy.advanced, 1);
  EXPECT_EQ(other.advanced, 1);
  engine.poll();
  EXPECT_EQ(busy.advanced, 2);
}

TEST(Agent, AdvancesWhileItsCallerWaits) {
  Engine engine(without_background());
  Busy agent(engine, 5);
  wake(engine, agent);
  EXPECT_TRUE(
      engine.wait_until([&](const Messenger&) { return agent.advanced == 5; }, std::chrono::hours(1)));
}

// Remembers who ran it.
struct Told final : Deferred {
  void run() noexcept override {
    by = std::this_thread::get_id();
    is_done.store(true, std::memory_order_release);  // with the load of whoever reads `by`
  }
  std::thread::id by;
  std::atomic<bool> is_done{false};
};

// A completion function may end what the thread works for, which then would wait for itself.
TEST(LockedAside, LeavesWhatIsDeferredToOthers) {
  Engine engine(without_background());
  Told told;
  engine.locked_aside([&](Messenger&) { engine.defer(told); });
  EXPECT_FALSE(told.is_done);
  engine.locked([](Messenger&) {});
  EXPECT_TRUE(told.is_done);
}

TEST(LockedAside, HasTheBackgroundThreadRunIt) {
  Engine engine{EngineOptions()};
  Told told;
  engine.locked_aside([&](Messenger&) { engine.defer(told); });
  while (!told.is_done.load(std::memory_order_acquire)) std::this_thread::yield();
  EXPECT_NE(told.by, std::this_thread::get_id());
}

}  // namespace
}  // namespace parley::transport
