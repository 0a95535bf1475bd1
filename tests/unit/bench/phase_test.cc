#include "bench/phase.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace parley::bench {
namespace {

// Writes down what it is asked to do.
struct Recorder {
  std::string calls;
  void send() { calls += 's'; }
  void recv() { calls += 'r'; }
  void send_window() { calls += 'S'; }
  void recv_window() { calls += 'R'; }
  void send_ack() { calls += 'a'; }
  void recv_ack() { calls += 'w'; }
  void exchange_windows() { calls += 'X'; }
};

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

constexpr Plan batched{
    .warmup = 2, .batches = 3, .batch_length = 2, .tail_samples = 4, .window = 1, .divisor = 2};

TEST(Phase, BothEndsOfAPingPongDoTheSameNumberOfExchanges) {
  Recorder leader;
  const PhaseResult result = run_phase(leader, Op::latency, batched, true);
  EXPECT_EQ(leader.calls, times(12, "sr"));
  EXPECT_GE(result.us, 0);
  EXPECT_EQ(result.tail_us.size(), 4U);

  Recorder follower;
  EXPECT_TRUE(run_phase(follower, Op::latency, batched, false).tail_us.empty());
  EXPECT_EQ(follower.calls, times(12, "rs"));
}

TEST(Phase, WindowsAreAnsweredOneByOne) {
  constexpr Plan plan{.warmup = 1, .batches = 1, .batch_length = 5, .window = 64, .divisor = 64};
  Recorder leader;
  EXPECT_TRUE(run_phase(leader, Op::bandwidth, plan, true).tail_us.empty());
  EXPECT_EQ(leader.calls, times(6, "Sw"));
  Recorder follower;
  run_phase(follower, Op::message_rate, plan, false);
  EXPECT_EQ(follower.calls, times(6, "Ra"));
}

TEST(Phase, WindowsBothWaysNeedNoAnswer) {
  constexpr Plan plan{.warmup = 1, .batches = 1, .batch_length = 5, .window = 64, .divisor = 128};
  for (const bool leads : {true, false}) {
    Recorder end;
    run_phase(end, Op::bidirectional, plan, leads);
    EXPECT_EQ(end.calls, times(6, "X"));
  }
}

TEST(Phase, PreparesEachExchangeOnBothEnds) {
  for (const bool leads : {true, false}) {
    Recorder end;
    const PhaseResult result =
        run_prepared_phase(end, Op::latency, batched, leads, [&] { end.calls += 'p'; });
    EXPECT_EQ(end.calls, times(12, leads ? "psr" : "prs"));
    EXPECT_EQ(result.tail_us.size(), leads ? 4U : 0U);
    EXPECT_GE(result.us, 0);
  }
}

// Preparing takes 20 ms; the exchange itself next to nothing.
TEST(Phase, PreparingIsNotMeasured) {
  constexpr Plan plan{.warmup = 0, .batches = 1, .batch_length = 3, .divisor = 1};
  Recorder leader;
  const auto prepare = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  EXPECT_LT(run_prepared_phase(leader, Op::bandwidth, plan, true, prepare).us, 20'000);
}

TEST(Phase, BatchesOfOneServeForPercentiles) {
  constexpr Plan plan{
      .warmup = 1, .batches = 7, .batch_length = 1, .batches_are_samples = true, .divisor = 2};
  Recorder leader;
  EXPECT_EQ(run_phase(leader, Op::latency, plan, true).tail_us.size(), 7U);
  EXPECT_EQ(leader.calls, times(8, "sr"));
}

}  // namespace
}  // namespace parley::bench
