// Which of two ways both ends choose while large messages go both ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "tests/unit/protocol/timed_pair.h"
#include "transport/protocol/path_choice.h"

namespace parley::transport {
namespace {

using namespace std::chrono_literals;

void note_arrivals(PathChoice& choice, bool beside_own_sends) {
  for (int i = 0; i < 16; ++i) choice.note_arrival(beside_own_sends);
}

TEST(PathChoiceBothWays, WithTrafficBothWaysAPullMayTakeTwiceAsLong) {
  TimedPair pair;
  pair.run(100, mib, 110us, 60us);
  EXPECT_EQ(pair.choice.favourite(mib), Path::link);
  const std::uint32_t one_way = pair.choice.pulled_classes();
  note_arrivals(pair.choice, true);
  EXPECT_EQ(pair.choice.favourite(mib), Path::pull);
  EXPECT_NE(pair.choice.pulled_classes(), one_way);
  EXPECT_EQ(pair.run(500, mib, 110us, 60us), 0);
  for (std::uint32_t i = 0; i < PathChoice::arrivals_of_one_way; ++i) pair.choice.note_arrival(false);
  EXPECT_EQ(pair.choice.favourite(mib), Path::link);
  EXPECT_EQ(pair.choice.pulled_classes(), one_way);
}

TEST(PathChoiceBothWays, WithTrafficBothWaysTheLinkIsTakenWhereAPullTakesLongerThanThat) {
  TimedPair pair;
  pair.run(100, mib, 150us, 60us);
  note_arrivals(pair.choice, true);
  EXPECT_EQ(pair.choice.favourite(mib), Path::link);
  EXPECT_GT(pair.run(100, mib, 150us, 60us), 90);
}

// There the rates count both processes' copies: once is enough.
TEST(PathChoiceBothWays, WhereCoresAreSharedItIsAsOneWay) {
  TimedPair pair;
  pair.choice.share_cores(true);
  pair.run(1000, mib, 110us, 40us);
  ASSERT_EQ(pair.choice.favourite(mib), Path::link);
  note_arrivals(pair.choice, true);
  EXPECT_EQ(pair.choice.favourite(mib), Path::link);
  const auto beside_own_data = [&pair](Path path) {
    if (path == Path::link) pair.choice.note_own_piece();
    return path == Path::pull ? 110us : 80us;
  };
  pair.run(1000, mib, beside_own_data);
  EXPECT_EQ(pair.choice.favourite(mib), Path::link) << "half of it was ours";
}

TEST(PathChoiceBothWays, AFewArrivalsDoNotTellWhetherTrafficGoesBothWays) {
  TimedPair pair;
  pair.run(100, mib, 110us, 60us);
  for (int i = 0; i < 100; ++i) pair.choice.note_arrival(i % 2 == 0);
  EXPECT_EQ(pair.choice.favourite(mib), Path::link);
  note_arrivals(pair.choice, true);
  for (int i = 0; i < 100; ++i) pair.choice.note_arrival(i % 2 == 0);
  EXPECT_EQ(pair.choice.favourite(mib), Path::pull);
}

TEST(PathChoiceBothWays, APullThatOurOwnDataHoldUpDoesNotCount) {
  TimedPair pair;
  pair.run(100, mib, 60us, 90us);
  const auto held_up = [&pair](Path path) {
    if (path == Path::pull) pair.choice.note_own_piece();
    return path == Path::pull ? 600us : 90us;
  };
  pair.run(100, mib, held_up);
  EXPECT_EQ(pair.choice.favourite(mib), Path::pull);
}

TEST(PathChoiceBothWays, OfWhatTheLinkTakesBesideOurOwnDataHalfCounts) {
  TimedPair pair;
  const auto both_busy = [&pair](Path path) {
    if (path == Path::link) pair.choice.note_own_piece();
    return path == Path::pull ? 100us : 160us;
  };
  pair.run(100, mib, both_busy);
  EXPECT_EQ(pair.choice.favourite(mib), Path::link);
}

TEST(PathChoiceBothWays, WindowsThatComeInTurnsAreTrafficBothWays) {
  TimedPair pair;
  pair.run(100, mib, 110us, 60us);
  note_arrivals(pair.choice, true);
  for (int window = 0; window < 10; ++window) {
    for (int i = 0; i < 100; ++i) pair.choice.note_arrival(false);
    for (int i = 0; i < 100; ++i)
      window % 2 == 0 ? pair.choice.note_own_piece() : pair.choice.note_taken(mib, Path::pull);
  }
  EXPECT_EQ(pair.choice.favourite(mib), Path::pull);
}

TEST(PathChoiceBothWays, AnAnswerNowAndThenIsNone) {
  TimedPair pair;
  pair.run(100, mib, 110us, 60us);
  note_arrivals(pair.choice, true);
  ASSERT_EQ(pair.choice.favourite(mib), Path::pull);
  for (int answers = 0; answers < 3; ++answers) {
    for (int i = 0; i < 100; ++i) pair.choice.note_arrival(false);
    pair.choice.note_own_piece();
  }
  EXPECT_EQ(pair.choice.favourite(mib), Path::link);
}

// What goes the other way is smaller: nothing tells what the peer would do with such.
TEST(PathChoiceBothWays, OfWhatGoesOneWayOnlyEachEndLearnsByItself) {
  TimedPair pair;
  pair.run(100, 4 * mib, 300us, 400us);
  note_arrivals(pair.choice, true);
  pair.choice.note_offered(mib / 2);
  for (int i = 0; i < 16; ++i) pair.choice.note_taken(mib / 2, Path::pull);
  EXPECT_EQ(pair.choice.choose(4 * mib, PathChoice::Lead::peers), Path::pull);
  EXPECT_EQ(pair.choice.choose(4 * mib, PathChoice::Lead::ours), Path::pull);
}

// What copies of 4 MiB cost at both ends, with traffic both ways.
class PathCosts : public ::testing::Test {
 protected:
  PathCosts() {
    pair_.run(100, size, 300us, 400us);
    EXPECT_EQ(pair_.choice.favourite(size), Path::pull) << "one way";
    note_arrivals(pair_.choice, true);
    for (const std::size_t bytes : {2 * mib, size, 16 * mib}) pair_.choice.note_offered(bytes);
  }
  // By the link alone, and once by a pull.
  void cost(float link_ns_per_byte, float pull_ns_per_byte) {
    const base::CopyWork half{size, link_ns_per_byte / 2 * size};
    for (int i = 0; i < 16; ++i) {
      pair_.choice.note_copies(size, {});  // nothing was pulled since
      pair_.choice.note_copies(size, {half, half, {}});
      pair_.choice.note_copies(size, {{}, {}, {size, pull_ns_per_byte * size}});
    }
  }

  static constexpr std::size_t size = 4 * mib;
  TimedPair pair_;
};

TEST_F(PathCosts, TheLinkIsTakenUntilItIsKnownWhatCopiesCost) {
  EXPECT_EQ(pair_.choice.favourite(size), Path::link);
  EXPECT_GT(pair_.run(100, size, 300us, 400us), 80) << "a few are pulled, to learn what that costs";
}

TEST_F(PathCosts, ThatIsTakenWhichCostsTheCoresLess) {
  cost(0.10F, 0.08F);
  EXPECT_EQ(pair_.choice.favourite(size), Path::pull);
  EXPECT_EQ(pair_.choice.favourite(16 * mib), Path::pull) << "so it begins with the next smaller one's";
  EXPECT_EQ(pair_.choice.favourite(2 * mib), Path::link) << "smaller ones know nothing";
  cost(0.05F, 0.08F);
  EXPECT_EQ(pair_.choice.favourite(size), Path::link);
  cost(0.078F, 0.075F);
  EXPECT_EQ(pair_.choice.favourite(size), Path::link) << "as good";
}

TEST_F(PathCosts, TheOtherOneIsTriedNowAndThen) {
  cost(0.05F, 0.08F);
  const int by_link = pair_.run(10'000, size, 300us, 400us);
  EXPECT_GT(by_link, 9'700);
  EXPECT_LT(by_link, 10'000);
  cost(0.12F, 0.08F);
  const int tried = pair_.run(10'000, size, 300us, 400us);
  EXPECT_GT(tried, 0);
  EXPECT_LT(tried, 1'000);
}

// The other end follows only after a dozen messages.
TEST_F(PathCosts, ATrialOfTheLinkIsLongEnoughForTheOtherEndToFollow) {
  cost(0.12F, 0.08F);
  ASSERT_EQ(pair_.choice.favourite(size), Path::pull);
  int longest = 0;
  int in_a_row = 0;
  for (int i = 0; i < 5'000; ++i) {
    in_a_row = pair_.run(1, size, 300us, 400us) == 1 ? in_a_row + 1 : 0;
    longest = std::max(longest, in_a_row);
  }
  EXPECT_GE(longest, 32);
}

// A peer that pulls leaves what it puts on the link lying until it is cold.
TEST_F(PathCosts, CopiesOfTheLinkDoNotCountBesidePulls) {
  cost(0.05F, 0.08F);
  const base::CopyWork slow{size, 1.0F * size};
  for (int i = 0; i < 100; ++i) {
    pair_.choice.note_taken(size, Path::pull);
    pair_.choice.note_copies(size, {slow, slow, {}});
  }
  EXPECT_EQ(pair_.choice.favourite(size), Path::link);
}

TEST_F(PathCosts, WhoDoesNotLeadDoesAsTheOther) {
  const auto chosen = [&] { return pair_.choice.choose(size, PathChoice::Lead::peers); };
  cost(0.10F, 0.05F);
  EXPECT_EQ(chosen(), Path::link) << "the peer has pulled nothing yet";
  for (int i = 0; i < 16; ++i) pair_.choice.note_taken(size, Path::pull);
  EXPECT_EQ(chosen(), Path::pull);
  for (std::uint32_t i = 0; i < PathChoice::pulls_to_try; ++i) pair_.choice.note_taken(size, Path::link);
  EXPECT_EQ(chosen(), Path::pull) << "a trial is not followed";
  for (int i = 0; i < 16; ++i) pair_.choice.note_taken(size, Path::link);
  EXPECT_EQ(chosen(), Path::link);
}

}  // namespace
}  // namespace parley::transport
