#include "bench/distinct_messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/buffers.h"
#include "bench/pattern.h"
#include "bench/turns.h"

namespace parley::bench {
namespace {

// Carries what one end sends to the other end's memory; `spoil` may change it once the last message is there.
class Carrier {
 public:
  explicit Carrier(Buffers& there) : there_(there) {}

  void send_distinct(DistinctMessages& messages, int i) { deliver(messages, i); }
  void recv_distinct(DistinctMessages&, int) { ++received_; }
  void post_send(DistinctMessages& messages, int i) { deliver(messages, i); }
  void post_receive(DistinctMessages&, int) { ++received_; }
  void finish_posted() { ++finished_; }

  std::function<void(Buffers& there)> spoil = [](Buffers&) {};
  [[nodiscard]] int received() const { return received_; }
  [[nodiscard]] int finished() const { return finished_; }

 private:
  void deliver(DistinctMessages& messages, int i) {
    const auto from = messages.out(i);
    std::copy(from.begin(), from.end(), there_.distinct().in(i).begin());
    if (i + 1 == messages.count()) spoil(there_);
  }
  Buffers& there_;
  int received_ = 0;
  int finished_ = 0;
};

TEST(DistinctMessages, AsManyAsAWindowUnlessTheyAreLarge) {
  const auto count_of = [](std::size_t bytes) { return Buffers(bytes, 0, 1).distinct().count(); };
  EXPECT_EQ(count_of(1), 64);
  EXPECT_EQ(count_of(32 * 1024), 64);
  EXPECT_EQ(count_of(64 * 1024), 32);
  EXPECT_EQ(count_of(16 * 1024 * 1024), 2);
}

TEST(DistinctMessages, AllDifferAndNoneIsThePartners) {
  Buffers mine(1, 0, 1);
  Buffers theirs(1, 1, 0);
  std::vector<int> bytes;
  for (Buffers* const buffers : {&mine, &theirs})
    for (int i = 0; i < 64; ++i) bytes.push_back(buffers->distinct().out(i)[0]);
  std::sort(bytes.begin(), bytes.end());
  EXPECT_EQ(std::adjacent_find(bytes.begin(), bytes.end()), bytes.end());
}

TEST(DistinctMessages, WhatTheOtherEndHasSentIsRight) {
  for (const std::size_t bytes : {1, 8, 63, 1000, 70'000, 5'000'000}) {
    for (const Op op : {Op::latency, Op::bandwidth, Op::bidirectional}) {
      Buffers mine(bytes, 0, 1);
      Buffers theirs(bytes, 1, 0);
      for (int turn = 0; turn < 3; ++turn) {
        Carrier leader(theirs);
        Carrier follower(mine);
        exchange_distinct(follower, op, false, theirs.distinct());
        prove_messages(leader, mine, op, true);
        theirs.check_distinct();
        EXPECT_EQ(leader.received(), receives_messages(op, true) ? mine.distinct().count() : 0);
        EXPECT_EQ(leader.finished(), is_windowed(op) ? 1 : 0);
        // As for the next turn of a run that rewrites.
        mine.rewrite_out();
        theirs.expect_rewritten();
      }
    }
  }
}

// Of the first message, or one in between: what a look at the last one does not find.
TEST(DistinctMessages, NamesTheMessageAndTheByteThatIsWrong) {
  Buffers mine(1000, 0, 1);
  Buffers theirs(1000, 1, 0);
  Carrier leader(theirs);
  const auto mistake = [&](const std::function<void(DistinctMessages&)>& spoil) {
    leader.spoil = [&](Buffers& there) { spoil(there.distinct()); };
    exchange_distinct(leader, Op::bandwidth, true, mine.distinct());
    std::string words;
    try {
      theirs.check_distinct();
    } catch (const std::runtime_error& error) {
      words = error.what();
    }
    return words;
  };
  EXPECT_EQ(mistake([](DistinctMessages&) {}), "");
  EXPECT_EQ(mistake([](DistinctMessages& in) { in.in(0)[999] ^= 4; }),
            "message 1 of 64 that differ, received from rank 0: byte 999 of 1000 is wrong");
  // Two that changed places.
  EXPECT_EQ(mistake([](DistinctMessages& in) {
              std::swap_ranges(in.in(16).begin(), in.in(16).end(), in.in(17).begin());
            }),
            "message 17 of 64 that differ, received from rank 0: byte 0 of 1000 is wrong");
  // One that never came.
  EXPECT_EQ(
      mistake([](DistinctMessages& in) { std::fill(in.in(40).begin(), in.in(40).end(), spoiled_byte); }),
      "message 41 of 64 that differ, received from rank 0: byte 0 of 1000 is wrong");
}

TEST(Pattern, FindsTheFirstByteThatIsWrong) {
  std::vector<std::uint8_t> memory(100'000);
  write_pattern(memory, 3);
  EXPECT_FALSE(first_wrong(memory, 3, 0, false));
  EXPECT_EQ(first_wrong(memory, 3, 1, false), 0U);
  EXPECT_EQ(first_wrong(memory, 2, 0, false), 0U);
  EXPECT_EQ(first_wrong(memory, 3, 0, true), 0U);
  EXPECT_FALSE(first_wrong(std::span(memory).subspan(70), 3, 70, false));
  memory[99'999] = 0;
  memory[50'000] = spoiled_byte;
  EXPECT_EQ(first_wrong(memory, 3, 0, false), 50'000U);
  EXPECT_FALSE(first_wrong({}, 3, 0, false));
}

}  // namespace
}  // namespace parley::bench
