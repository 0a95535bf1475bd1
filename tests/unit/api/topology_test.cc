#include "api/wireup/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace parley::wireup {
namespace {

using rendezvous::AddressCard;
using ::testing::ElementsAre;

AddressCard card_on(const std::string& host, const std::string& pid_namespace = "1",
                    std::vector<std::uint16_t> cores = {0, 1}) {
  AddressCard card;
  card.host = host + "-name";
  card.host_id = host;
  card.shm_address = "here";
  card.cores = std::move(cores);
  card.pid_namespace = pid_namespace;
  return card;
}

TEST(Topology, SaysWhichRanksShareAHostOrAPlace) {
  const Topology topology(std::vector{card_on("a"), card_on("a", "2"), card_on("b"), card_on("a")});
  EXPECT_EQ(topology.size(), 4);
  EXPECT_EQ(topology.place_count(), 3U);
  EXPECT_EQ(topology.host_number(0), topology.host_number(1));
  EXPECT_NE(topology.host_number(0), topology.host_number(2));
  EXPECT_FALSE(topology.share_place(0, 1));
  EXPECT_TRUE(topology.share_place(0, 3));
  EXPECT_EQ(topology.host_of(2).name, "b-name");
  EXPECT_EQ(topology.host_of(2).ranks, 1U);
  EXPECT_EQ(topology.host_of(3).ranks, 3U);
}

TEST(Topology, CountsTheLowerRanksOfAHost) {
  const Topology topology(
      std::vector{card_on("a"), card_on("b"), card_on("a"), card_on("a", "2"), card_on("b")});
  std::vector<int> local;
  for (int rank = 0; rank < topology.size(); ++rank) local.push_back(topology.local_rank(rank));
  EXPECT_THAT(local, ElementsAre(0, 0, 1, 2, 1));
}

TEST(Topology, CountsTheCoresOfAHostTogether) {
  const Topology topology(std::vector{card_on("a", "1", {0}), card_on("a", "1", {1}), card_on("b", "1", {})});
  EXPECT_EQ(topology.host_of(0).cores, 2U);
  EXPECT_TRUE(topology.has_core(0) && topology.has_core(1));
  EXPECT_EQ(topology.host_of(2).cores, 0U);
  const Topology crowded(std::vector{card_on("a"), card_on("a"), card_on("a")});
  EXPECT_FALSE(crowded.has_core(0) || crowded.has_core(2));
}

TEST(Topology, KnowsWhoOffersNoMemory) {
  std::vector<AddressCard> cards{card_on("a"), card_on("a"), card_on("a")};
  cards[1].shm_address.clear();
  const Topology topology(cards);
  EXPECT_TRUE(topology.offers_memory(0) && topology.offers_memory(2));
  EXPECT_FALSE(topology.offers_memory(1));
}

// Ranks that are alike and follow each other cost as much as one.
TEST(Topology, GrowsWithTheHosts) {
  const auto bytes_of = [](int ranks_per_host) {
    std::vector<AddressCard> cards;
    for (const char* host : {"a", "b"})
      for (int i = 0; i < ranks_per_host; ++i) cards.push_back(card_on(host));
    return Topology(cards).encode().size();
  };
  EXPECT_EQ(bytes_of(1000), bytes_of(4));
}

TEST(Topology, TravelsWhole) {
  std::vector<AddressCard> cards{card_on("a"), card_on("b", "2"), card_on("a", "1", {0})};
  cards[1].shm_address.clear();
  const Topology sent(cards);
  const auto got = Topology::decode(sent.encode());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->encode(), sent.encode());
  EXPECT_EQ(got->host_of(1).name, "b-name");
  EXPECT_EQ(got->local_rank(2), 1);
}

TEST(Topology, OfBytesThatAreNoneIsNone) {
  const auto whole = Topology(std::vector{card_on("a"), card_on("b")}).encode();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(Topology::decode(std::span(whole).first(bytes))) << bytes;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    auto changed = whole;
    changed[place] = std::byte{0xFF};
    const auto decoded = Topology::decode(changed);  // what is taken can be asked about every rank
    for (int rank = 0; decoded && rank < std::min(decoded->size(), 1000); ++rank)
      EXPECT_LT(decoded->place_of(rank), decoded->place_count());
  }
}

}  // namespace
}  // namespace parley::wireup
