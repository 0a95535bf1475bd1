#include "api/collective/copy_choice.h"

#include <gtest/gtest.h>

namespace parley::collective {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t mib = std::size_t{1} << 20;
// A copy into a stage or out of it, of 1 MiB.
constexpr CopyChoice::Timing fast{mib, nanoseconds(30'000)}, slow{mib, nanoseconds(70'000)};

void note(CopyChoice& choice, std::size_t bytes, const CopyChoice::Timing& timing,
          int calls = CopyChoice::needed_doubts) {
  for (int call = 0; call < calls; ++call) {
    CopyChoice::Timings timings;
    timings.add(timing.bytes, choice.is_slow(timing));
    choice.note(bytes, timings);
  }
}

// Leaves out the call that tries stages.
bool prefers_kernel(CopyChoice& choice, std::size_t bytes) {
  const bool first = choice.prefers_kernel(bytes);
  return choice.prefers_kernel(bytes) || first;
}

TEST(CopyChoice, TakesStagesUntilSomeCallsOnEndWereSlow) {
  CopyChoice choice(CopyChoice::moved_byte_ns);
  EXPECT_FALSE(prefers_kernel(choice, mib));
  note(choice, mib, slow, CopyChoice::needed_doubts - 1);
  EXPECT_FALSE(prefers_kernel(choice, mib));
  note(choice, mib, fast, 1);
  note(choice, mib, slow, CopyChoice::needed_doubts - 1);
  EXPECT_FALSE(prefers_kernel(choice, mib)) << "the fast one counts";
  note(choice, mib, slow, 1);
  EXPECT_TRUE(prefers_kernel(choice, mib));
}

TEST(CopyChoice, TriesStagesNowAndThenAndComesBackToThem) {
  CopyChoice choice(CopyChoice::moved_byte_ns);
  note(choice, mib, slow);
  int tried = 0;
  for (std::uint32_t call = 0; call < 4 * CopyChoice::calls_per_trial; ++call)
    tried += choice.prefers_kernel(mib) ? 0 : 1;
  EXPECT_EQ(tried, 4);
  note(choice, mib, fast);
  EXPECT_FALSE(prefers_kernel(choice, mib));
}

TEST(CopyChoice, HoldsSizesApart) {
  CopyChoice choice(CopyChoice::moved_byte_ns);
  note(choice, mib, slow);
  EXPECT_TRUE(prefers_kernel(choice, mib + 5));
  EXPECT_TRUE(prefers_kernel(choice, 2 * mib - 1));
  EXPECT_FALSE(prefers_kernel(choice, mib - 1));
  EXPECT_FALSE(prefers_kernel(choice, 2 * mib));
  note(choice, 256 * mib, slow);
  EXPECT_TRUE(prefers_kernel(choice, 32 * mib)) << "all large ones are alike";
  note(choice, 1, slow);
  EXPECT_TRUE(prefers_kernel(choice, mib / 4)) << "so are all small ones";
}

TEST(CopyChoice, LetsMostOfACallDecide) {
  CopyChoice choice(CopyChoice::moved_byte_ns);
  for (int call = 0; call < CopyChoice::needed_doubts; ++call) {
    CopyChoice::Timings timings;
    const bool is_slow = choice.is_slow({mib, nanoseconds(50'000'000)});
    for (int piece = 0; piece < 4; ++piece) timings.add(mib, choice.is_slow(fast));
    for (int piece = 0; piece < 3; ++piece) timings.add(mib, is_slow);
    choice.note(mib, timings);
  }
  EXPECT_FALSE(prefers_kernel(choice, mib));
}

TEST(CopyChoice, LearnsNothingFromACallThatHasCopiedNothing) {
  CopyChoice choice(CopyChoice::moved_byte_ns);
  note(choice, mib, slow, CopyChoice::needed_doubts - 1);
  choice.note(mib, {});
  note(choice, mib, slow, 1);
  EXPECT_TRUE(prefers_kernel(choice, mib));
}

TEST(CopyChoice, TakesStagesForFastMoreOftenWhereDataIsFolded) {
  const CopyChoice moved(CopyChoice::moved_byte_ns), folded(CopyChoice::folded_byte_ns);
  constexpr CopyChoice::Timing between{mib, nanoseconds(56'000)};
  EXPECT_TRUE(moved.is_slow(between));
  EXPECT_FALSE(folded.is_slow(between));
  EXPECT_TRUE(folded.is_slow(slow));
}

}  // namespace
}  // namespace parley::collective
