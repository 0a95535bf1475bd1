// Which way the devices of a group take, by what its ranks tell each other.
#include "api/nccl/card.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace parley::nccl {
namespace {

using wireup::DeviceWish;

Card card_of(int device, int version = 22809) {
  Card card{.version = version};
  card.device[0] = static_cast<std::byte>(device);
  if (version == 0) std::strcpy(card.why_not, "it is not installed");
  return card;
}

TEST(Choice, IsNcclWhereEachRankHasADeviceOfItsOwn) {
  const std::vector<Card> cards{card_of(1), card_of(2), card_of(3)};
  const Choice choice = choose(cards);
  EXPECT_TRUE(choice.is_nccl);
  EXPECT_EQ(choice.why, "each rank has a device of its own");
}

TEST(Choice, SaysWhyNot) {
  const auto why_not = [](const std::vector<Card>& cards) {
    const Choice choice = choose(cards);
    EXPECT_FALSE(choice.is_nccl);
    EXPECT_EQ(choice.contradiction, "");
    return choice.why;
  };
  EXPECT_EQ(why_not({card_of(1)}), "there is one rank");
  EXPECT_EQ(why_not({card_of(1), card_of(2, 0)}), "rank 1 has no NCCL: it is not installed");
  EXPECT_EQ(why_not({card_of(1), card_of(2), card_of(3, 22703)}), "rank 0 has NCCL 2.28.9, rank 2 2.27.3");
  EXPECT_EQ(why_not({card_of(1), card_of(2), card_of(1)}), "ranks 0 and 2 share a device");
}

TEST(Choice, LetsRanksShareADeviceIfNcclDoesSoForAllOfThem) {
  std::vector<Card> cards{card_of(1, 23000), card_of(1, 23000)};
  cards[0].shares_device = true;
  EXPECT_EQ(choose(cards).why, "ranks 0 and 1 share a device");
  cards[1].shares_device = true;
  EXPECT_TRUE(choose(cards).is_nccl);
}

TEST(Choice, FollowsWishes) {
  std::vector<Card> one{card_of(1)};
  one[0].wish = DeviceWish::nccl;
  EXPECT_TRUE(choose(one).is_nccl);
  EXPECT_EQ(choose(one).why, "it is asked for");
  std::vector<Card> two{card_of(1), card_of(1)};
  two[1].wish = DeviceWish::nccl;
  EXPECT_FALSE(choose(two).is_nccl);
  EXPECT_EQ(choose(two).contradiction, "NCCL is asked for, but ranks 0 and 1 share a device");
  two[0].wish = DeviceWish::ipc;  // counts more
  EXPECT_EQ(choose(two).contradiction, "");
  EXPECT_EQ(choose(two).why, "rank 0 asks for ipc");
  std::vector<Card> apart{card_of(1), card_of(2)};
  apart[1].wish = DeviceWish::staged;
  EXPECT_FALSE(choose(apart).is_nccl);
  EXPECT_EQ(choose(apart).why, "rank 1 asks for staged");
}

TEST(Choice, OfWishesAloneIsTheSame) {
  using enum DeviceWish;
  const std::vector<std::vector<DeviceWish>> groups{
      {automatic},         {nccl},           {ipc}, {automatic, automatic}, {nccl, automatic},
      {automatic, staged}, {nccl, ipc, nccl}};
  for (const auto& wishes : groups) {
    std::vector<Card> cards;
    Wishes all;
    for (const DeviceWish wish : wishes) {
      all.add(wish);
      cards.push_back(card_of(static_cast<int>(cards.size())));
      cards.back().wish = wish;
    }
    EXPECT_EQ(all.want_nccl(), choose(cards).is_nccl) << choose(cards).why;
  }
}

}  // namespace
}  // namespace parley::nccl
