#include "transport/protocol/peer_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace parley::transport {
namespace {

using base::Code;
using ::testing::ElementsAre;

std::vector<std::uint32_t> numbers_of(const PeerTable& peers) {
  std::vector<std::uint32_t> numbers;
  for (const Peer& peer : peers) numbers.push_back(peer.number);
  return numbers;
}

TEST(PeerTable, MakesARecordWhenItIsFirstAskedFor) {
  PeerTable peers(1000, {.eager_limit_bytes = 77});
  EXPECT_EQ(peers.size(), 1000U);
  EXPECT_EQ(peers.made(), 0U);
  EXPECT_FALSE(peers.is_made(7));
  Peer& seventh = peers[7];
  EXPECT_EQ(seventh.number, 7U);
  EXPECT_EQ(seventh.culprit, 7U);
  EXPECT_EQ(seventh.title, "rank 7");
  EXPECT_EQ(seventh.eager_limit_bytes, 77U);
  EXPECT_EQ(seventh.state, PeerState::expected);
  EXPECT_EQ(&peers[7], &seventh);
  EXPECT_TRUE(peers.is_made(7));
  EXPECT_EQ(peers.made(), 1U);
}

TEST(PeerTable, GoesOverWhatIsMadeAndWhatIsMadeMeanwhile) {
  PeerTable peers(10, {});
  (void)peers[3];
  (void)peers[1];
  EXPECT_THAT(numbers_of(peers), ElementsAre(3, 1));
  std::vector<std::uint32_t> met;
  for (const Peer& peer : peers) {
    met.push_back(peer.number);
    if (peer.number == 1) (void)peers[9];
  }
  EXPECT_THAT(met, ElementsAre(3, 1, 9));
}

TEST(PeerTable, SaysHowALinkHasEndedWithoutMakingARecord) {
  PeerTable peers(3, {});
  peers[1].reason = Code::peer_left;
  EXPECT_EQ(peers.reason(1).code(), Code::peer_left);
  EXPECT_TRUE(peers.reason(2).ok());
  peers.begin_with({.end = Code::closed});
  EXPECT_EQ(peers.reason(1).code(), Code::peer_left);
  EXPECT_EQ(peers.reason(2).code(), Code::closed);
  EXPECT_EQ(peers.made(), 1U);
  EXPECT_EQ(peers[2].state, PeerState::down);
  EXPECT_EQ(peers[2].reason.code(), Code::closed);
}

TEST(PeerTable, OfNobodyIsEmpty) {
  PeerTable peers(0, {});
  EXPECT_EQ(peers.size(), 0U);
  EXPECT_THAT(numbers_of(peers), ElementsAre());
}

}  // namespace
}  // namespace parley::transport
