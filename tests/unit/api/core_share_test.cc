#include "api/wireup/core_share.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace parley::wireup {
namespace {

using rendezvous::AddressCard;
using Cores = std::vector<std::uint16_t>;

AddressCard on(Cores cores, std::vector<base::CpuQuota> quotas = {}, const char* host = "here") {
  AddressCard card;
  card.host_id = host;
  card.cores = std::move(cores);
  card.quotas = std::move(quotas);
  return card;
}

// Of each rank, in order.
std::vector<bool> shares(const std::vector<AddressCard>& cards) {
  std::vector<bool> own;
  for (const AddressCard& card : cards) own.push_back(has_core_of_its_own(card, cards));
  return own;
}

using Own = std::vector<bool>;

TEST(CoreShare, AsManyCoresAsRanksAreEnough) {
  EXPECT_EQ(shares({on({0})}), Own{true});
  EXPECT_EQ(shares({on({0, 1}), on({0, 1})}), (Own{true, true}));
  EXPECT_EQ(shares({on({0, 1}), on({0, 1}), on({0, 1})}), (Own{false, false, false}));
}

TEST(CoreShare, RanksOfOtherHostsTakeNone) {
  EXPECT_EQ(shares({on({0}), on({0}, {}, "there")}), (Own{true, true}));
}

TEST(CoreShare, BoundRanksShareTheCoreTheyAreBoundTo) {
  EXPECT_EQ(shares({on({0}), on({1})}), (Own{true, true}));
  // There are four cores for three ranks; two of them have one.
  EXPECT_EQ(shares({on({0}), on({0}), on({1, 2, 3})}), (Own{false, false, true}));
}

TEST(CoreShare, WhoMayGoElsewhereMakesRoom) {
  EXPECT_EQ(shares({on({0, 1}), on({0})}), (Own{true, true}));
  EXPECT_EQ(shares({on({0, 1}), on({1, 2}), on({2, 3}), on({0})}), (Own{true, true, true, true}));
  EXPECT_EQ(shares({on({0, 1}), on({1, 2}), on({2}), on({0})}), (Own{false, false, false, false}));
}

// Nobody of the chain has the others' mask, and still a core is missing for one of them.
TEST(CoreShare, RivalsAreFoundThroughOthers) {
  const Own own = shares({on({0, 1}), on({1, 2}), on({2, 3}), on({0, 3}), on({0, 2}), on({5})});
  EXPECT_EQ(own, (Own{false, false, false, false, false, true}));
}

TEST(CoreShare, AQuotaCountsForThoseWhoAreUnderIt) {
  const base::CpuQuota tight{"27:1", 1999};
  const base::CpuQuota wide{"27:2", 2000};
  EXPECT_EQ(shares({on({0, 1}, {wide}), on({0, 1}, {wide})}), (Own{true, true}));
  EXPECT_EQ(shares({on({0, 1}, {tight}), on({0, 1}, {tight})}), (Own{false, false}));
  EXPECT_EQ(shares({on({0, 1}, {tight}), on({0, 1})}), (Own{true, true}));
  // Each alone in its group, all in the one around them.
  const base::CpuQuota one{"27:3", 1000}, other{"27:4", 1000};
  EXPECT_EQ(shares({on({0, 1}, {one, tight}), on({0, 1}, {other, tight})}), (Own{false, false}));
  EXPECT_EQ(shares({on({0, 1}, {one, wide}), on({0, 1}, {other, wide})}), (Own{true, true}));
}

TEST(CoreShare, ManyRanksOnManyCores) {
  Cores all;
  for (std::uint16_t core = 0; core < 256; ++core) all.push_back(core);
  std::vector<AddressCard> cards(255, on(all));
  cards.push_back(on({0}));
  EXPECT_TRUE(has_core_of_its_own(cards.front(), cards));
  EXPECT_TRUE(has_core_of_its_own(cards.back(), cards));
  cards.push_back(on({0}));
  EXPECT_FALSE(has_core_of_its_own(cards.front(), cards));
}

}  // namespace
}  // namespace parley::wireup
