// Which of two ways a receiver chooses, by what its messages took.
#include "transport/protocol/path_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "tests/unit/protocol/timed_pair.h"

namespace parley::transport {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// Messages of one whose messages come one at a time: those that count, and the first one.
constexpr int trial = CopyRate::few_samples + 1;
// Samples of the favourite by which the other one is faster, before that is tried; a few more until its rate
// says so.
constexpr int spell = 16 + 4;

TEST(PathChoice, PullsFirstAndFindsTheLinkIfThatIsFaster) {
  TimedPair pair;
  EXPECT_EQ(pair.run(PathChoice::first_trial_after, 4 * mib, 400us, 300us), 0);
  pair.run(4, 4 * mib, 400us, 300us);
  EXPECT_EQ(pair.choice.favourite(4 * mib), Path::link);
}

TEST(PathChoice, TriesTheSlowerOneOnLessThanTwoPercent) {
  TimedPair pair;
  pair.run(1000, mib, 50us, 90us);
  EXPECT_EQ(pair.choice.favourite(mib), Path::pull);
  const int tried = pair.run(10'000, mib, 50us, 90us);
  EXPECT_GT(tried, 0);
  EXPECT_LT(tried, 200);

  pair.run(1000, 16 * mib, 3ms, 2ms);
  EXPECT_EQ(pair.choice.favourite(16 * mib), Path::link);
  EXPECT_GT(pair.run(10'000, 16 * mib, 3ms, 2ms), 9'800);
}

TEST(PathChoice, EachSizeHasItsOwnFavourite) {
  TimedPair pair;
  for (int i = 0; i < 50; ++i) {
    pair.run(1, mib, 50us, 90us);
    pair.run(1, 16 * mib, 3ms, 2ms);
  }
  EXPECT_EQ(pair.choice.favourite(mib), Path::pull);
  EXPECT_EQ(pair.choice.favourite(16 * mib), Path::link);
  EXPECT_EQ(pair.choice.favourite(std::size_t{1} << 40), Path::link) << "all large ones are one class";
}

TEST(PathChoice, ANewSizeBeginsWithWhatTheNextSmallerOneHasLearnt) {
  TimedPair pair;
  pair.run(50, mib, 50us, 30us);
  ASSERT_EQ(pair.choice.favourite(mib), Path::link);
  EXPECT_EQ(pair.run(PathChoice::first_trial_after, 4 * mib, 400us, 300us), PathChoice::first_trial_after);
  EXPECT_EQ(pair.run(PathChoice::first_trial_after, mib / 4, 20us, 10us), 0) << "it knows of no smaller one";
}

TEST(PathChoice, StaysWithWhatIsAsGood) {
  TimedPair pair;
  pair.run(500, 4 * mib, 400us, 390us);
  EXPECT_EQ(pair.choice.favourite(4 * mib), Path::pull);
}

// The link takes some messages to get to its pace.
TEST(PathChoice, From1MibUpAPullHasToBeMuchFaster) {
  TimedPair pair;
  pair.run(500, 4 * mib, 400us, 300us);
  ASSERT_EQ(pair.choice.favourite(4 * mib), Path::link);
  pair.run(5'000, 4 * mib, 340us, 380us);
  EXPECT_EQ(pair.choice.favourite(4 * mib), Path::link);
  pair.run(10'000, 4 * mib, 290us, 380us);
  EXPECT_EQ(pair.choice.favourite(4 * mib), Path::pull);
}

// Nothing that is tried tells anything: the favourite stays, and most messages are its own.
TEST(PathChoice, TriesThatTellNothingStayFew) {
  TimedPair pair;
  pair.run(500, 4 * mib, 300us, 320us);
  ASSERT_EQ(pair.choice.favourite(4 * mib), Path::pull);
  pair.link_brings_all = false;
  EXPECT_LT(pair.run(20'000, 4 * mib, 900us, 900us), 4'000);
}

TEST(PathChoice, ComesBackWhenTheFavouriteGetsSlow) {
  TimedPair pair;
  pair.run(100, 4 * mib, 400us, 300us);
  ASSERT_EQ(pair.choice.favourite(4 * mib), Path::link);
  pair.run(spell + trial, 4 * mib, 400us, 900us);
  EXPECT_EQ(pair.choice.favourite(4 * mib), Path::pull);
}

// A few messages after other work, and then windows that find what they need in the caches again.
TEST(PathChoice, ABurstInColdCachesChangesNothing) {
  TimedPair pair;
  for (int window = 0; window < 1000; ++window) pair.run_window(64, mib / 4, 12us, 16us);
  int by_link = 0;
  for (int round = 0; round < 20; ++round) {
    by_link += pair.run_window(16, mib / 4, 60us, 60us);
    for (int window = 0; window < 5; ++window) by_link += pair.run_window(64, mib / 4, 12us, 16us);
  }
  EXPECT_LE(by_link, 2 * 64) << "of 6 720";
}

// What a window of messages takes after others had the caches: more by both paths.
TEST(PathChoice, WhatWasFoundInWarmCachesIsNotBelievedInColdOnes) {
  TimedPair pair;
  pair.run(500, 4 * mib, 400us, 400us);
  for (int round = 0; round < 20; ++round) {
    EXPECT_LE(pair.run(64, 4 * mib, 900us, 900us), 2 * trial) << round;
    EXPECT_LE(pair.run(500, 4 * mib, 400us, 400us), 2 * trial) << round;
  }
}

TEST(PathChoice, LooksBackSoonAfterAChange) {
  TimedPair pair;
  const auto windows = [&](int count, nanoseconds pull, nanoseconds link) {
    for (int window = 0; window < count; ++window) pair.run_window(64, mib, pull, link);
    return pair.choice.favourite(mib);
  };
  EXPECT_EQ(windows(1000, 100us, 150us), Path::pull);
  EXPECT_EQ(windows(3, 300us, 150us), Path::link);
  EXPECT_EQ(windows(10, 100us, 150us), Path::pull);
}

// Where the pauses of the link take their share.
TEST(PathChoice, UpTo512KibTheLinkHasToBeMuchFaster) {
  TimedPair pair;
  pair.run(500, mib / 4, 20us, 16us);
  EXPECT_EQ(pair.choice.favourite(mib / 4), Path::pull);
  pair.run(500, mib / 4, 20us, 14us);
  EXPECT_EQ(pair.choice.favourite(mib / 4), Path::link);
  pair.run(5'000, mib / 4, 14us, 15us);
  EXPECT_EQ(pair.choice.favourite(mib / 4), Path::pull);
}

// Most of what a trial brings ends while pulls are under way, and does not count.
TEST(PathChoice, LearnsFromWindowsThatAreLongerThanATrial) {
  TimedPair pair;
  pair.run(500, mib, 100us, 80us);
  pair.run(500, mib, 100us, 150us);
  int by_link = 0;
  for (int window = 0; window < 100; ++window) by_link = pair.run_window(100, mib, 300us, 150us);
  EXPECT_EQ(pair.choice.favourite(mib), Path::link);
  EXPECT_EQ(by_link, 100);
}

void begin_with_pulls_that_do_not_count(TimedPair& pair) {
  PathChoice& choice = pair.choice;
  for (std::uint32_t i = 0; i < PathChoice::first_trial_after; ++i) {
    ASSERT_EQ(choice.choose(mib), Path::pull);
    choice.end(Path::pull, mib, choice.begin(Path::pull, pair.now), pair.now + 1us, false);
  }
}

// Of a deep window the first pulls end beside the trial, and its rest, which counts, before the others.
TEST(PathChoice, WhatWasTimedBeforeTheFavouriteIsComparedWhenThatIsKnown) {
  TimedPair pair;
  begin_with_pulls_that_do_not_count(pair);
  constexpr int cold = 2;
  EXPECT_EQ(pair.run(CopyRate::few_samples + cold, mib, 80us, 30us), CopyRate::few_samples + cold);
  EXPECT_EQ(pair.choice.favourite(mib), Path::pull) << "nothing is known of pulls";
  EXPECT_EQ(pair.run(CopyRate::few_samples + 1, mib, 80us, 30us), 0);
  EXPECT_EQ(pair.choice.favourite(mib), Path::link);
}

// What is slower at first sight stays so.
TEST(PathChoice, WhatWasTimedBeforeTheFavouriteAndIsSlowerChangesNothing) {
  TimedPair pair;
  begin_with_pulls_that_do_not_count(pair);
  (void)pair.run(50, mib, 30us, 80us);
  EXPECT_EQ(pair.choice.favourite(mib), Path::pull);
}

TEST(PathChoice, FindsWhenTheOtherGetsFast) {
  TimedPair pair;
  pair.run(500, 4 * mib, 400us, 500us);
  ASSERT_EQ(pair.choice.favourite(4 * mib), Path::pull);
  pair.run(1000, 4 * mib, 400us, 200us);
  EXPECT_EQ(pair.choice.favourite(4 * mib), Path::link);
}

// One message in ten lost its core, and each trial's first one touches new pages.
TEST(PathChoice, IgnoresWhatIsSlowOnce) {
  TimedPair pair;
  int number = 0;
  Path last = Path::pull;
  const int by_link = pair.run(2000, 4 * mib, [&](Path path) -> nanoseconds {
    const bool is_first = std::exchange(last, path) != path;
    const bool is_preempted = ++number % 10 == 0;
    return (path == Path::pull ? 400us : 340us) + (is_first ? 2ms : 0ms) + (is_preempted ? 5ms : 0ms);
  });
  EXPECT_EQ(pair.choice.favourite(4 * mib), Path::link);
  EXPECT_GT(by_link, 1'800);
}

TEST(PathChoice, LearnsFromWindowsToo) {
  TimedPair pair;
  int by_link = 0;
  for (int window = 0; window < 20; ++window) by_link = pair.run_window(16, 16 * mib, 1'600us, 1'200us);
  EXPECT_EQ(pair.choice.favourite(16 * mib), Path::link);
  EXPECT_EQ(by_link, 16);
  int tried = 0;
  for (int window = 0; window < 1'000; ++window) tried += pair.run_window(64, mib, 50us, 90us);
  EXPECT_EQ(pair.choice.favourite(mib), Path::pull);
  EXPECT_LT(tried, 64 * 1'000 * 3 / 100);
}

// Two paths that are busy at once say nothing: here each pull seems to take nothing.
TEST(PathChoice, DoesNotCountWhatWasServedBesideTheOther) {
  TimedPair pair;
  pair.run(100, 4 * mib, 400us, 300us);
  ASSERT_EQ(pair.choice.favourite(4 * mib), Path::link);
  for (int i = 0; i < 100; ++i) {
    const auto by_link = pair.choice.begin(Path::link, pair.now);
    const auto pulled = pair.choice.begin(Path::pull, pair.now);
    pair.now += 300us;
    pair.choice.end(Path::link, 4 * mib, by_link, pair.now, true);
    pair.choice.end(Path::pull, 4 * mib, pulled, pair.now + 1ns, true);
    pair.now += 1us;
  }
  EXPECT_EQ(pair.choice.favourite(4 * mib), Path::link);
}

TEST(PathChoice, DoesNotCountWhatDidNotArrive) {
  TimedPair pair;
  pair.run(100, 4 * mib, 400us, 300us);
  for (int i = 0; i < 100; ++i) {
    const auto since = pair.choice.begin(Path::pull, pair.now);
    pair.choice.end(Path::pull, 4 * mib, since, pair.now + 1us, false);
    pair.now += 2us;
  }
  EXPECT_EQ(pair.choice.favourite(4 * mib), Path::link);
}

// One message whose path its sender has chosen. Whether it was timed.
bool take_one(TimedPair& pair, Path path, std::size_t bytes, nanoseconds cost) {
  const bool is_timed = pair.choice.wants_timing(path, bytes);
  const auto since = pair.choice.start(pair.now);
  if (is_timed) pair.choice.begin(path, pair.now);
  pair.now += cost;
  is_timed ? pair.choice.end(path, bytes, since, pair.now, true) : pair.choice.note_end(bytes);
  pair.now += 1us;
  return is_timed;
}

TEST(PathChoice, TimesFewOfThoseThatTakeTheFavourite) {
  TimedPair pair;
  constexpr std::size_t bytes = 16 << 10;
  int timed = 0;
  for (int i = 0; i < 800; ++i) timed += take_one(pair, Path::pull, bytes, 2us) ? 1 : 0;
  EXPECT_GE(timed, 50);
  EXPECT_LE(timed, 110);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(take_one(pair, Path::link, bytes, 4us));
  EXPECT_EQ(pair.choice.favourite(bytes), Path::pull);
}

// They are all matched at once and pulled one after the other: each takes its share of the time since the
// last one that was timed.
TEST(PathChoice, AWindowOfPullsTakesNoLongerForBeingTimedNowAndThen) {
  TimedPair pair;
  constexpr std::size_t bytes = 64 << 10;
  for (int window = 0; window < 10; ++window) {
    std::vector<std::optional<PathChoice::Start>> pulls;
    for (int i = 0; i < 64; ++i) {
      pulls.emplace_back();
      if (pair.choice.wants_timing(Path::pull, bytes)) pulls.back() = pair.choice.begin(Path::pull, pair.now);
    }
    for (const auto& since : pulls) {
      pair.now += 3us;
      since ? pair.choice.end(Path::pull, bytes, *since, pair.now, true) : pair.choice.note_end(bytes);
    }
    for (int i = 0; i < 8; ++i) take_one(pair, Path::link, bytes, 4us);
    EXPECT_EQ(pair.choice.favourite(bytes), Path::pull) << window;
  }
}

// The first ones touch pages that the later ones find: what they took is not believed for long.
TEST(PathChoice, ASlowBeginningDoesNotCondemnThePull) {
  TimedPair pair;
  for (const auto cost : {900us, 240us, 110us, 70us, 62us, 61us, 61us, 61us})
    take_one(pair, Path::pull, mib, cost);
  for (int i = 0; i < 8; ++i) take_one(pair, Path::link, mib, 85us);
  EXPECT_EQ(pair.choice.favourite(mib), Path::pull);
}

TEST(PathChoice, SaysOfEachSizeWhetherItIsBetterPulled) {
  TimedPair pair;
  constexpr std::size_t bytes = 20'000;
  EXPECT_EQ(pair.choice.pulled_classes(), PathChoice::all_pulled);
  for (int i = 0; i < 20; ++i) take_one(pair, Path::pull, bytes, 4us);
  for (int i = 0; i < 20; ++i) take_one(pair, Path::link, bytes, 2us);
  EXPECT_EQ(pair.choice.pulled_classes(), (PathChoice::all_pulled) & ~(1U << PathChoice::class_of(bytes)));
}

// The first messages after a pause take much longer by the link, but not those that follow.
TEST(PathChoice, APauseDoesNotCondemnTheLink) {
  TimedPair pair;
  constexpr std::size_t bytes = 16 << 10;
  for (int i = 0; i < 20; ++i) take_one(pair, Path::pull, bytes, 3us);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 256; ++i) take_one(pair, Path::link, bytes, 5us);
    for (int i = 0; i < 8; ++i) take_one(pair, Path::pull, bytes, 3us);  // a trial
    for (int i = 0; i < 256; ++i) take_one(pair, Path::link, bytes, 600ns);
    EXPECT_EQ(pair.choice.favourite(bytes), Path::link) << round;
  }
  for (int i = 0; i < 2000; ++i) take_one(pair, Path::link, bytes, 5us);
  for (int i = 0; i < 8; ++i) take_one(pair, Path::pull, bytes, 3us);  // a trial
  EXPECT_EQ(pair.choice.favourite(bytes), Path::pull) << "it was no pause";
}

TEST(PathChoice, ANewSizeTriesTheMoreRarelyTheNearerTheOneItLearnsFrom) {
  TimedPair pair;
  pair.run(10'000, 2 * mib, 150us, 50us);
  ASSERT_EQ(pair.choice.favourite(2 * mib), Path::link);
  EXPECT_EQ(pair.run(90, 4 * mib, 500us, 170us), 90);
  EXPECT_LT(pair.run(10'000, 4 * mib, 500us, 170us), 10'000);

  TimedPair other;
  other.run(10'000, mib, 60us, 90us);
  ASSERT_EQ(other.choice.favourite(mib), Path::pull);
  other.run(20, 16 * mib, 4ms, 1500us);
  EXPECT_EQ(other.choice.favourite(16 * mib), Path::link);
}

// A pull keeps one core for as long as the link keeps each of two.
TEST(PathChoice, WhereCoresAreSharedTheSendersTimeCounts) {
  TimedPair pair;
  pair.run(1'000, 2 * mib, 150us, 100us);
  EXPECT_EQ(pair.choice.favourite(2 * mib), Path::link);
  TimedPair sharing;
  sharing.choice.share_cores(true);
  sharing.run(1'000, 2 * mib, 150us, 100us);
  EXPECT_EQ(sharing.choice.favourite(2 * mib), Path::pull);
  sharing.run(10'000, 2 * mib, 150us, 40us);
  EXPECT_EQ(sharing.choice.favourite(2 * mib), Path::link);
}

TEST(PathChoice, KnowsHowLongAPullTakes) {
  TimedPair pair;
  EXPECT_EQ(pair.choice.pull_time(2 * mib), 0ns);
  pair.run(100, 2 * mib, 150us, 100us);
  EXPECT_NEAR(static_cast<double>(pair.choice.pull_time(2 * mib).count()), 150e3, 1e3);
  EXPECT_NEAR(static_cast<double>(pair.choice.pull_time(4 * mib).count()), 300e3, 2e3)
      << "by a smaller size's";
}

TEST(PathChoice, WhereCoresAreSharedASenderThatDoesNotComeIsSoonAskedAgain) {
  TimedPair pair;
  pair.choice.share_cores(true);
  pair.run(100, 4 * mib, 400us, 100us);
  ASSERT_EQ(pair.choice.favourite(4 * mib), Path::link);
  for (int i = 0; i < 10; ++i) {
    pair.choice.note_unanswered();
    EXPECT_EQ(pair.run(8, 4 * mib, 400us, 100us), 0) << i;
    EXPECT_GE(pair.run(10, 4 * mib, 400us, 100us), 10 - trial) << i;
  }
}

TEST(PathChoice, LeavesASenderAloneThatDoesNotCome) {
  TimedPair pair;
  pair.run(100, 4 * mib, 400us, 300us);
  ASSERT_EQ(pair.choice.favourite(4 * mib), Path::link);
  int last = 0;
  for (const int pulled : {8, 16, 32, 64, 128, 256, 512, 1024, 1024}) {
    pair.choice.note_unanswered();
    pair.choice.note_unanswered();  // asked for at the same time
    EXPECT_EQ(pair.run(pulled, 4 * mib, 400us, 300us), 0) << pulled;
    last = pair.run(10, 4 * mib, 400us, 300us);
    EXPECT_GE(last, 10 - trial) << pulled;
  }
  // It is forgiven if it comes again and again.
  for (int i = 0; i < 200; ++i) pair.choice.note_answered();
  pair.choice.note_unanswered();
  EXPECT_EQ(pair.run(8, 4 * mib, 400us, 300us), 0);
  EXPECT_GT(pair.run(4, 4 * mib, 400us, 300us), 0);
}

}  // namespace
}  // namespace parley::transport
