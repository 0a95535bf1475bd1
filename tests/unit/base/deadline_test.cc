#include "transport/base/deadline.h"

#include <gtest/gtest.h>

namespace parley::base {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(Deadline, NeverDoesNotExpire) {
  EXPECT_TRUE(Deadline::never().is_never());
  EXPECT_FALSE(Deadline::never().expired());
  EXPECT_EQ(Deadline::never().remaining(), nanoseconds::max());
}

TEST(Deadline, ADurationTooLongForTheClockIsNever) {
  EXPECT_TRUE(Deadline::after(nanoseconds::max()).is_never());
  EXPECT_TRUE(Deadline::after(Clock::time_point::max() - Clock::now()).is_never());
  EXPECT_FALSE(Deadline::after(hours(24 * 365)).is_never());
}

TEST(Deadline, ThePastHasExpired) {
  const Deadline past = Deadline::at(Clock::now() - seconds(1));
  EXPECT_TRUE(past.expired());
  EXPECT_EQ(past.remaining(), nanoseconds(0));
  EXPECT_TRUE(Deadline::after(nanoseconds(0)).expired());
  EXPECT_TRUE(Deadline::after(seconds(-5)).expired());
}

TEST(Deadline, TheFutureHasTimeLeft) {
  const Deadline future = Deadline::after(hours(1));
  EXPECT_FALSE(future.expired());
  EXPECT_GT(future.remaining(), nanoseconds(0));
  EXPECT_LE(future.remaining(), hours(1));
}

TEST(Deadline, TheEarliestOfTwo) {
  const auto now = Clock::now();
  EXPECT_EQ(earliest(Deadline::at(now), Deadline::never()).when(), now);
  EXPECT_EQ(earliest(Deadline::at(now + seconds(1)), Deadline::at(now)).when(), now);
}

}  // namespace
}  // namespace parley::base
