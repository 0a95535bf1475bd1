// Looks and pauses, in which order: a link and a pause that write down what is asked of them.
#include "transport/engine/quick_looks.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/unit/engine/bare_transport.h"

namespace parley::transport {
namespace {

std::string record;  // L: a look, P: a pause

struct ShortPause {
  static void pause() noexcept { record += 'P'; }
  static bool is_short() noexcept { return true; }
};
struct LongPause : ShortPause {
  static bool is_short() noexcept { return false; }
};

// Something has come by the look after so many in vain.
struct RecordingLink final : BareLink {
  std::size_t take_arrived() noexcept override {
    record += 'L';
    return looks_in_vain-- == 0 ? 1 : 0;
  }
  int looks_in_vain = -1;
};

template <typename Looks>
std::string wait_of(Looks& looks, std::uint32_t count, int looks_in_vain) {
  record.clear();
  RecordingLink link;
  link.looks_in_vain = looks_in_vain;
  looks.begin();
  EXPECT_EQ(looks.at(&link, count), looks_in_vain >= 0 ? 1U : 0U);
  return record;
}

void learn_to_wait(BasicQuickLooks<ShortPause>& looks) {
  for (int i = 0; i < 2; ++i) ASSERT_EQ(wait_of(looks, 2, -1), "LPL");
}

TEST(QuickLooks, ComeInPairs) {
  BasicQuickLooks<ShortPause> looks;
  EXPECT_EQ(wait_of(looks, 7, -1), "LPLLPLLPLL");
}

TEST(QuickLooks, EndWithTheFirstEvent) {
  BasicQuickLooks<ShortPause> looks;
  EXPECT_EQ(wait_of(looks, 13, 3), "LPLLPL");
}

TEST(QuickLooks, AreAsManyAsAreAskedFor) {
  BasicQuickLooks<ShortPause> looks;
  EXPECT_EQ(wait_of(looks, 0, -1), "");
  EXPECT_EQ(wait_of(looks, 1, -1), "L");
  EXPECT_EQ(wait_of(looks, 2, -1), "LPL");
}

TEST(QuickLooks, WaitFirstWhereNothingWasThereAtOnceTwiceInARow) {
  BasicQuickLooks<ShortPause> looks;
  EXPECT_EQ(wait_of(looks, 13, 1), "LPL");
  EXPECT_EQ(wait_of(looks, 13, 0), "L");
  EXPECT_EQ(wait_of(looks, 13, 1), "LPL");
  EXPECT_EQ(wait_of(looks, 13, 1), "LPL");
  EXPECT_EQ(wait_of(looks, 13, 0), "PPL");
  EXPECT_EQ(wait_of(looks, 13, 1), "PPLPL");
}

TEST(QuickLooks, WaitOnlyBeforeTheFirstOfAWait) {
  BasicQuickLooks<ShortPause> looks;
  learn_to_wait(looks);
  EXPECT_EQ(wait_of(looks, 2, -1), "PPLPL");
  record.clear();
  RecordingLink link;
  EXPECT_EQ(looks.at(&link, 2), 0U);
  EXPECT_EQ(record, "LPL") << "the wait goes on";

  looks.begin();
  EXPECT_EQ(looks.at(nullptr, 0), 0U);  // a pass over everything was due
  record.clear();
  EXPECT_EQ(looks.at(&link, 2), 0U);
  EXPECT_EQ(record, "LPL") << "time has passed";
}

TEST(QuickLooks, OneAloneIsMadeAtOnceAndTeachesNothing) {
  BasicQuickLooks<ShortPause> looks;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(wait_of(looks, 1, -1), "L");
  EXPECT_EQ(wait_of(looks, 2, -1), "LPL") << "those alone have taught nothing";
  EXPECT_EQ(wait_of(looks, 2, -1), "LPL");
  EXPECT_EQ(wait_of(looks, 1, 0), "L");
  EXPECT_EQ(wait_of(looks, 2, -1), "PPLPL");
}

TEST(QuickLooks, TryAgainNowAndThenWhetherSomethingIsThereAtOnce) {
  using Looks = BasicQuickLooks<ShortPause>;
  Looks looks;
  learn_to_wait(looks);
  for (std::uint32_t i = 1; i < Looks::waits_between_trials; ++i) ASSERT_EQ(wait_of(looks, 2, 0), "PPL") << i;
  EXPECT_EQ(wait_of(looks, 2, 0), "L");
  EXPECT_EQ(wait_of(looks, 2, 0), "L") << "the trial has paid";
  learn_to_wait(looks);
  EXPECT_EQ(wait_of(looks, 2, 0), "PPL");
}

TEST(QuickLooks, WaitOnAfterATrialInVain) {
  using Looks = BasicQuickLooks<ShortPause>;
  Looks looks;
  learn_to_wait(looks);
  for (std::uint32_t i = 1; i < Looks::waits_between_trials; ++i) wait_of(looks, 2, 0);
  EXPECT_EQ(wait_of(looks, 2, -1), "LPL");
  EXPECT_EQ(wait_of(looks, 2, 0), "PPL");
}

// It takes as long as an answer itself.
TEST(QuickLooks, NeverWaitFirstWithALongPause) {
  BasicQuickLooks<LongPause> looks;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(wait_of(looks, 3, -1), "LPLL");
}

}  // namespace
}  // namespace parley::transport
