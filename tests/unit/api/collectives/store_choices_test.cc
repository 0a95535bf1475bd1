#include "api/collective/store_choices.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

#include "api/schedule/schedule.h"

namespace parley::collective {
namespace {

TEST(StoreChoices, TwoRanksHaveOne) {
  StoreChoices choices(2);
  EXPECT_EQ(&choices.of(0), &choices.of(1));
  EXPECT_EQ(&choices.of(0), &choices.of(schedule::everyone));
}

TEST(StoreChoices, MoreRanksHaveOneForEachAndOneForAllElse) {
  StoreChoices choices(3);
  EXPECT_NE(&choices.of(0), &choices.of(2));
  EXPECT_NE(&choices.of(2), &choices.of(schedule::everyone));
  EXPECT_NE(&choices.of(0), &choices.of(1));
}

// Rank 1 shares our core, rank 2 is far: what is copied for both in turn is stored in two ways.
TEST(StoreChoices, WhoIsFarIsKnownBesideWhoIsNear) {
  using base::StoreChoice;
  using namespace std::chrono_literals;
  if (!base::has_copy_past_caches) GTEST_SKIP() << "there is no copy past the caches on this processor";
  StoreChoices choices(3);
  for (int i = 0; i < 1000; ++i)
    for (const std::uint32_t rank : {1U, 2U})
      if (StoreChoice& choice = choices.of(rank); choice.next() == StoreChoice::Way::cached_timed)
        choice.note(rank == 1 ? 80ns : 1'400ns, 4096, choice.timed_piece_of(4096));
  EXPECT_FALSE(choices.of(1).goes_past_caches());
  EXPECT_TRUE(choices.of(2).goes_past_caches());
}

}  // namespace
}  // namespace parley::collective
