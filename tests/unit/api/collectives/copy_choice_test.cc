#include "api/collective/copy_choice.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace parley::collective {
namespace {

using schedule::Operation;
using Call = CopyChoice::Call;
using Way = CopyChoice::Way;

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr CopyChoice::Subject subject{Operation::all_to_all, mib};
constexpr std::uint32_t calls_of_trial = 2 * CopyChoice::calls_of_way;

// The calls of a rank, whose times are heard in the next call that hears.
class Calls {
 public:
  using TimeOf = std::function<std::uint32_t(Way)>;

  Call next(const TimeOf& time_of, const CopyChoice::Subject& of = subject) {
    const Call call = choice_.next(of);
    choice_.count(of);
    if (call.is_heard && told_) {
      choice_.note(*told_, told_->took_ns);
      told_.reset();
    }
    const std::uint32_t took_ns = call.is_timed ? time_of(call.way) : 0;
    if (took_ns != 0) told_ = {of, call, 1, took_ns};  // else it went another way
    return call;
  }
  // The calls before the first trial, and that.
  void settle(const TimeOf& time_of, const CopyChoice::Subject& of = subject) {
    for (std::uint32_t call = 0; call <= CopyChoice::first_trial + calls_of_trial; ++call) next(time_of, of);
  }

 private:
  CopyChoice choice_;
  std::optional<CopyChoice::Timing> told_;
};

std::uint32_t stages_are_slow(Way way) {
  return way == Way::stages ? 200 : 100;
}
std::uint32_t stages_are_fast(Way way) {
  return way == Way::stages ? 100 : 200;
}

Call next(CopyChoice& choice) {
  const Call call = choice.next(subject);
  choice.count(subject);
  return call;
}

TEST(CopyChoice, TriesBothWaysOneAfterTheOtherAndHearsOfAllTimes) {
  CopyChoice choice;
  for (std::uint32_t call = 0; call < CopyChoice::first_trial; ++call) {
    const Call each = next(choice);
    EXPECT_TRUE(each.way == Way::stages && !each.is_heard && !each.is_timed && !each.is_trial);
  }
  for (const Way way : {Way::stages, Way::kernel}) {
    for (std::uint32_t call = 0; call < CopyChoice::calls_of_way; ++call) {
      const Call each = next(choice);
      EXPECT_EQ(each.way, way);
      EXPECT_TRUE(each.is_heard && each.is_trial);
      EXPECT_EQ(each.is_timed, call >= CopyChoice::entering_calls);
    }
  }
  EXPECT_EQ(next(choice).is_heard, true);
  EXPECT_EQ(next(choice).is_heard, false) << "the last time was heard";
}

TEST(CopyChoice, TakesTheWayThatWasFaster) {
  Calls slow, fast;
  slow.settle(stages_are_slow);
  fast.settle(stages_are_fast);
  EXPECT_EQ(slow.next(stages_are_slow).way, Way::kernel);
  EXPECT_EQ(fast.next(stages_are_fast).way, Way::stages);
}

TEST(CopyChoice, LetsTheMedianDecide) {
  Calls calls;
  int copies = 0;
  calls.settle([&](Way way) {
    const bool is_disturbed = way == Way::kernel && copies++ < 2;
    return is_disturbed ? 5'000U : stages_are_slow(way);
  });
  EXPECT_EQ(calls.next(stages_are_slow).way, Way::kernel) << "the mean is against it";
  Calls others;
  int stages = 0;
  others.settle([&](Way way) { return way == Way::stages && stages++ < 2 ? 1U : stages_are_slow(way); });
  EXPECT_EQ(others.next(stages_are_slow).way, Way::kernel) << "the shortest time is against it";
}

TEST(CopyChoice, TakesStagesWhereCopiesWereNotPossible) {
  Calls calls;
  calls.settle(stages_are_slow);
  EXPECT_EQ(calls.next(stages_are_slow).way, Way::kernel);
  Call last;
  for (std::uint32_t call = 0; call < CopyChoice::calls_per_trial; ++call)
    last = calls.next([](Way way) { return way == Way::stages ? 200U : 0U; });
  EXPECT_EQ(last.way, Way::stages);
  EXPECT_FALSE(last.is_heard);
}

TEST(CopyChoice, TriesAgainAndChanges) {
  Calls calls;
  calls.settle(stages_are_slow);
  std::uint32_t trials = 0;
  for (std::uint32_t i = 0; i < CopyChoice::calls_per_trial; ++i)
    trials += calls.next(stages_are_fast).is_trial ? 1 : 0;
  EXPECT_EQ(trials, calls_of_trial);
  EXPECT_EQ(calls.next(stages_are_fast).way, Way::stages);
  for (std::uint32_t i = 0; i < CopyChoice::calls_per_trial; ++i) calls.next(stages_are_slow);
  EXPECT_EQ(calls.next(stages_are_slow).way, Way::kernel);
}

TEST(CopyChoice, EndsCopiesThatTakeLongerThanInTheirTrial) {
  Calls calls;
  calls.settle(stages_are_slow);
  const auto take = [&](std::uint32_t number, std::uint32_t time_ns) {
    Call call;
    for (std::uint32_t i = 0; i < number; ++i) call = calls.next([&](Way) { return time_ns; });
    return call.way;
  };
  EXPECT_EQ(take(50, 124), Way::kernel) << "as long as before";
  EXPECT_EQ(take(CopyChoice::slow_calls_to_end - 1, 200), Way::kernel);
  EXPECT_EQ(take(2, 100), Way::kernel) << "not on end";
  EXPECT_EQ(take(CopyChoice::slow_calls_to_end + 2, 200), Way::stages);
}

TEST(CopyChoice, HoldsTimesAgainstSizesWhereThoseOfAClassDiffer) {
  Calls calls;
  std::size_t mibs = 0;
  for (int call = 0; call < 200; ++call) {
    mibs = call % 2 == 0 ? 64 : 1024;  // the same class
    const auto time_of = [&](Way way) { return static_cast<std::uint32_t>(mibs) * stages_are_slow(way); };
    const Call each = calls.next(time_of, {Operation::scatter, mibs * mib});
    if (call > 50) {
      EXPECT_EQ(each.way, Way::kernel) << call;
    }
  }
}

TEST(CopyChoice, HoldsOperationsAndSizesApart) {
  Calls calls;
  const auto way_of = [&](Operation operation, std::size_t bytes) {
    return calls.next(stages_are_slow, {operation, bytes}).way;
  };
  calls.settle(stages_are_slow);
  EXPECT_EQ(way_of(Operation::all_to_all, mib + 5), Way::kernel);
  EXPECT_EQ(way_of(Operation::all_to_all, 2 * mib - 1), Way::kernel);
  EXPECT_EQ(way_of(Operation::all_to_all, mib - 1), Way::stages);
  EXPECT_EQ(way_of(Operation::all_to_all, 2 * mib), Way::stages);
  EXPECT_EQ(way_of(Operation::scatter, mib), Way::stages);
  calls.settle(stages_are_slow, {Operation::scatter, 256 * mib});
  EXPECT_EQ(way_of(Operation::scatter, 32 * mib), Way::kernel) << "all large ones are alike";
  calls.settle(stages_are_slow, {Operation::scatter, 1});
  EXPECT_EQ(way_of(Operation::scatter, mib / 4), Way::kernel) << "so are all small ones";
}

}  // namespace
}  // namespace parley::collective
