#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "transport/base/non_temporal.h"
#include "transport/base/store_choice.h"

namespace parley::base {
namespace {

using namespace std::chrono_literals;
using Way = StoreChoice::Way;

// How many chunks of 4 KiB were timed, and how many went past the caches, of so many. A timed one takes
// `cached` to be done, and `after_others_past` until the eight stages of a board have been stored to through
// the caches again.
struct Went {
  int timed = 0;
  int past_caches = 0;
};
Went write_stages(StoreChoice& choice, int chunks, std::chrono::nanoseconds after_others_past,
                  std::chrono::nanoseconds cached) {
  Went went;
  int cached_in_row = 0;
  for (int i = 0; i < chunks; ++i) {
    const Way way = choice.next();
    if (way == Way::past_caches) ++went.past_caches;
    if (way == Way::cached_timed) {
      ++went.timed;
      choice.note(cached_in_row < 8 ? after_others_past : cached, 4096, choice.timed_piece_of(4096));
    }
    cached_in_row = way == Way::past_caches ? 0 : cached_in_row + 1;
  }
  return went;
}
// The same where it makes no difference what lies in the caches.
Went write_chunks(StoreChoice& choice, int chunks, std::chrono::nanoseconds cached) {
  return write_stages(choice, chunks, cached, cached);
}

constexpr auto close = 80ns;
constexpr auto near = 400ns;
constexpr auto far = 1'400ns;

struct StoppedClock {
  static std::chrono::steady_clock::time_point now() { return {}; }
};

class StoreChoiceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_copy_past_caches) GTEST_SKIP() << "there is no copy past the caches on this processor";
  }
  StoreChoice choice_;
};

TEST_F(StoreChoiceTest, StaysInTheCachesWhereLinesCostLittle) {
  const Went went = write_chunks(choice_, 3200, near);
  EXPECT_EQ(went.past_caches, 0);
  EXPECT_EQ(went.timed, 100);
}

TEST_F(StoreChoiceTest, TimesFewerCopiesBetweenCloseCoresWhileTheySayTheSame) {
  (void)write_chunks(choice_, 14 * 32, close);
  EXPECT_EQ(write_chunks(choice_, 10 * StoreChoice::copies_per_timing_if_settled, close).timed, 10);
  while (choice_.next() != Way::cached_timed) {
  }
  choice_.note(far, 4096, 4096);
  EXPECT_EQ(choice_.next(), Way::cached_timed) << "a doubt is looked into at once";
  choice_.note(close, 4096, 4096);
  EXPECT_EQ(write_chunks(choice_, 7 * 32, close).timed, 7) << "and remembered";
}

TEST_F(StoreChoiceTest, HearsSoonThatCoresAreFurtherApart) {
  (void)write_chunks(choice_, 2000, close);
  ASSERT_TRUE(choice_.cores_are_close());
  (void)write_chunks(choice_, 2 * StoreChoice::copies_per_timing_if_settled + 4 * 32, near);
  EXPECT_FALSE(choice_.cores_are_close());
}

TEST_F(StoreChoiceTest, GoesPastThemWhereLinesCostMuch) {
  (void)write_chunks(choice_, 32 + 2, far);
  const Went went = write_chunks(choice_, 12'800, far);
  EXPECT_EQ(went.past_caches, 12'700);
  EXPECT_EQ(went.timed, 100);
}

TEST_F(StoreChoiceTest, ComesBackWhenTheCoresHaveMoved) {
  (void)write_chunks(choice_, 1000, far);
  // The next trial, and two more that confirm it.
  const Went back = write_chunks(choice_, 128 + 2, near);
  EXPECT_LT(back.past_caches, 128);
  EXPECT_EQ(write_chunks(choice_, 1000, near).past_caches, 0);
}

TEST_F(StoreChoiceTest, ComesBackThoughTheFirstChunkMeetsLinesThatAreInNoCache) {
  (void)write_chunks(choice_, 1000, far);
  (void)write_stages(choice_, 128 + StoreChoice::copies_until_cached + 1, 750ns, near);
  EXPECT_EQ(write_stages(choice_, 1000, 750ns, near).past_caches, 0);
}

// Writes until it times a chunk, which is not in pieces. How many were written before that.
int write_until_timed(StoreChoice& choice, std::size_t bytes, Way expected) {
  int written = 0;
  for (Way way = choice.next(); way != Way::cached_timed; way = choice.next(), ++written)
    EXPECT_EQ(way, expected);
  if (choice.timed_piece_of(bytes) == bytes) return written;
  choice.note(far, bytes, choice.timed_piece_of(bytes));
  return write_until_timed(choice, bytes, expected);
}

TEST_F(StoreChoiceTest, ConfirmsATrialByWhatFollowsEightCachedChunks) {
  (void)write_chunks(choice_, 1000, far);
  (void)write_until_timed(choice_, 4096, Way::past_caches);
  choice_.note(900ns, 4096, 4096);
  EXPECT_EQ(choice_.next(), Way::past_caches) << "beyond the wider bound";
  (void)write_until_timed(choice_, 4096, Way::past_caches);
  choice_.note(850ns, 4096, 4096);
  EXPECT_EQ(write_until_timed(choice_, 4096, Way::cached), 8);
  choice_.note(570ns, 4096, 4096);
  EXPECT_EQ(write_until_timed(choice_, 4096, Way::cached), 0);
  EXPECT_TRUE(choice_.goes_past_caches());
  choice_.note(570ns, 4096, 4096);
  EXPECT_FALSE(choice_.goes_past_caches());
}

TEST_F(StoreChoiceTest, DoesNotBelieveATrialThatNothingConfirms) {
  (void)write_chunks(choice_, 1000, far);
  (void)write_until_timed(choice_, 4096, Way::past_caches);
  choice_.note(850ns, 4096, 4096);
  (void)write_until_timed(choice_, 4096, Way::cached);
  choice_.note(600ns, 4096, 4096);
  EXPECT_EQ(choice_.next(), Way::past_caches);
}

TEST_F(StoreChoiceTest, HasOneBoundForWhatIsStoredInAnotherPlaceEachTime) {
  (void)write_chunks(choice_, 1000, far);
  (void)write_until_timed(choice_, 8192, Way::past_caches);
  choice_.note(1'100ns, 8192, 8192);
  EXPECT_EQ(choice_.next(), Way::past_caches);
  (void)write_until_timed(choice_, 8192, Way::past_caches);
  choice_.note(1'000ns, 8192, 8192);
  EXPECT_EQ(write_until_timed(choice_, 8192, Way::cached), 0);
}

TEST_F(StoreChoiceTest, StaysPastThemWhereOnlyTheFirstChunkMayBeFast) {
  (void)write_chunks(choice_, 1000, far);
  const Went went = write_stages(choice_, 1000, 750ns, 750ns);
  EXPECT_GT(went.past_caches, 900);
  EXPECT_GT(write_stages(choice_, 1000, far, far).past_caches, 980);
}

TEST_F(StoreChoiceTest, OneLateChunkTellsNothing) {
  for (int i = 0; i < 100; ++i) {
    while (choice_.next() != Way::cached_timed) {
    }
    choice_.note(1ms, 1024, 1024);
    EXPECT_EQ(choice_.next(), Way::cached_timed) << "a doubt is looked into at once";
    choice_.note(200ns, 1024, 1024);
    EXPECT_EQ(choice_.next(), Way::cached);
  }
}

TEST_F(StoreChoiceTest, CopiesAsItSays) {
  std::string ways;
  const auto store = [&](std::size_t bytes) {
    store_as_chosen<StoppedClock>(
        choice_, nullptr, bytes,
        [&](std::size_t /*at*/, std::size_t piece) { ways += piece == bytes ? 'c' : '-'; },
        [&] { ways += 'p'; });
  };
  (void)write_chunks(choice_, 32 + 2, far);
  store(StoreChoice::least_bytes);
  store(StoreChoice::least_bytes - 1);
  store(4096);
  EXPECT_EQ(ways, "pcp");
  // The trial goes through the caches, and takes no time here; so do the two that confirm it.
  (void)write_chunks(choice_, 125, far);
  ways.clear();
  for (int i = 0; i < 5; ++i) store(2048);
  EXPECT_EQ(ways, "ccccc");
}

TEST_F(StoreChoiceTest, CopiesUpTo4KiBInPiecesWhereCoresAreClose) {
  EXPECT_EQ(choice_.piece_of(4096), 4096U) << "not before it is known";
  (void)write_chunks(choice_, 6 * 32, close);
  EXPECT_EQ(choice_.piece_of(4096), 2048U);
  EXPECT_EQ(choice_.piece_of(2100), 2048U);
  EXPECT_EQ(choice_.piece_of(1024), 1024U);
  EXPECT_EQ(choice_.piece_of(4097), 4097U);
  choice_.set_in_row(true);
  EXPECT_EQ(choice_.piece_of(4096), 4096U);
  choice_.set_in_row(false);
  (void)write_chunks(choice_, 6 * 32, near);
  EXPECT_EQ(choice_.piece_of(4096), 4096U);
  // What was not made in pieces tells nothing of the cores.
  for (int i = 0; i < 3; ++i) choice_.note(1ns, 4096, 4096);
  EXPECT_EQ(choice_.piece_of(4096), 4096U);
}

TEST_F(StoreChoiceTest, LearnsFromCopiesOf8And16KiBWhetherCoresAreClose) {
  EXPECT_FALSE(choice_.cores_are_close());
  for (int i = 0; i < 3; ++i) choice_.note(170ns, 8 << 10, 8 << 10);
  EXPECT_TRUE(choice_.cores_are_close());
  for (int i = 0; i < 3; ++i) choice_.note(600ns, 16 << 10, 16 << 10);
  EXPECT_FALSE(choice_.cores_are_close());
  choice_.set_in_row(true);
  for (int i = 0; i < 3; ++i) choice_.note(170ns, 8 << 10, 8 << 10);
  EXPECT_FALSE(choice_.cores_are_close());
}

TEST_F(StoreChoiceTest, GainsByFetchingWhatPlainStoresWillWrite) {
  EXPECT_TRUE(choice_.gains_by_fetching(64));
  EXPECT_TRUE(choice_.gains_by_fetching(2048));
  EXPECT_FALSE(choice_.gains_by_fetching(4096)) << "the string instruction's";
  (void)write_chunks(choice_, 6 * 32, close);
  EXPECT_TRUE(choice_.gains_by_fetching(4096));
  (void)write_chunks(choice_, 6 * 32, far);
  EXPECT_TRUE(choice_.gains_by_fetching(1023));
  EXPECT_FALSE(choice_.gains_by_fetching(1024)) << "past the caches no line is owned";
  EXPECT_FALSE(choice_.gains_by_fetching(4096));
}

// Every byte once, in order, whatever the pieces are.
TEST_F(StoreChoiceTest, PiecesAreAllOfIt) {
  (void)write_chunks(choice_, 6 * 32, close);
  std::vector<std::byte> from(4096), to(4096 + 1), read(4096 + 1);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1023}, std::size_t{2049}, std::size_t{4096}}) {
    std::size_t next = 0;
    store_as_chosen<StoppedClock>(
        choice_, from.data(), bytes,
        [&](std::size_t at, std::size_t piece) {
          EXPECT_EQ(at, next);
          next = at + piece;
          std::memcpy(to.data() + at, from.data() + at, piece);
        },
        [] { ADD_FAILURE() << "past the caches"; });
    EXPECT_EQ(next, bytes);
    load_as_chosen(choice_, read.data(), to.data(), bytes);
    EXPECT_EQ(std::memcmp(read.data(), from.data(), bytes), 0) << bytes;
    EXPECT_EQ(read[bytes], std::byte{0}) << bytes;
    std::fill(read.begin(), read.end(), std::byte{0});
  }
}

TEST_F(StoreChoiceTest, TimesCopiesInPiecesAndWholeOnesInTurn) {
  std::string ways;
  for (int i = 0; i < 4 * 32; ++i)
    store_as_chosen<StoppedClock>(
        choice_, nullptr, 4096, [&](std::size_t at, std::size_t /*piece*/) { ways += at == 0 ? "c" : "-"; },
        [] {});
  EXPECT_EQ(std::count(ways.begin(), ways.end(), '-'), 2);
}

// Shows at each look how long the copies since have taken.
struct CopyClock {
  static inline std::chrono::nanoseconds time{};
  static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::time_point(time); }
};

// Of a source that comes from slow memory only the first bytes are read before, and are timed.
TEST_F(StoreChoiceTest, LongCopiesAreToldByTheirFirstBytes) {
  constexpr std::size_t bytes = 256 << 10, telling = StoreChoice::most_telling;
  const std::vector<std::byte> from(bytes);
  std::size_t next = 0;
  const auto store = [&](std::chrono::nanoseconds telling_takes, std::chrono::nanoseconds others_take) {
    next = 0;
    store_as_chosen<CopyClock>(
        choice_, from.data(), bytes,
        [&](std::size_t at, std::size_t piece) {
          EXPECT_EQ(at, next);
          next = at + piece;
          CopyClock::time += next <= telling ? telling_takes : others_take;
        },
        [] {});
  };
  for (int i = 0; i < 200; ++i) store(200ns, 100us);
  EXPECT_EQ(next, bytes);
  EXPECT_TRUE(choice_.cores_are_close());
  EXPECT_FALSE(choice_.goes_past_caches()) << "it is the memory behind them that is slow";
  for (int i = 0; i < 1000; ++i) store(5us, 1us);
  EXPECT_TRUE(choice_.goes_past_caches());
}

TEST_F(StoreChoiceTest, GoesByTheTimePerByte) {
  while (choice_.next() != Way::cached_timed) {
  }
  choice_.note(1250ns, 16 << 10, 16 << 10);  // 78 ns for each KiB
  EXPECT_EQ(choice_.next(), Way::cached);
  while (choice_.next() != Way::cached_timed) {
  }
  choice_.note(320ns, 2000, 2000);  // 113, beyond what the clock takes
  EXPECT_EQ(choice_.next(), Way::cached);
}

}  // namespace
}  // namespace parley::base
