#include "transport/protocol/peer_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/protocol/messenger.h"

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
  PeerTable peers(1000, 77);
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
  PeerTable peers(10);
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
  PeerTable peers(3);
  peers[1].reason = Code::peer_left;
  EXPECT_EQ(peers.reason(1).code(), Code::peer_left);
  EXPECT_TRUE(peers.reason(2).ok());
  peers.end_with(Code::closed);
  EXPECT_EQ(peers.reason(1).code(), Code::peer_left);
  EXPECT_EQ(peers.reason(2).code(), Code::closed);
  EXPECT_EQ(peers.made(), 1U);
  EXPECT_EQ(peers[2].state, PeerState::down);
  EXPECT_EQ(peers[2].reason.code(), Code::closed);
}

TEST(PeerTable, OfNobodyIsEmpty) {
  PeerTable peers(0);
  EXPECT_EQ(peers.size(), 0U);
  EXPECT_THAT(numbers_of(peers), ElementsAre());
}

// Process 1 of three, without links.
class UnmetPeers : public testing::Test {
 protected:
  ~UnmetPeers() override {
    for (Request* request : requests_) messenger_.release(*request);
  }

  Request& receive_from_any(std::uint32_t context) {
    ReceiveSpec spec;
    spec.pattern = {context, any_source, 0};
    spec.data = &byte_;
    spec.capacity_bytes = 1;
    requests_.push_back(messenger_.receive(spec).request);
    return *requests_.back();
  }

  Messenger messenger_{MessengerOptions{.self = 1, .peer_count = 3}};
  std::vector<Request*> requests_;
  std::byte byte_{};
};

// With the records goes most of the memory of a large world.
TEST_F(UnmetPeers, HaveNoRecords) {
  receive_from_any(0);
  messenger_.tick(std::chrono::steady_clock::now() + std::chrono::seconds(3));
  EXPECT_FALSE(messenger_.is_alone());
  EXPECT_FALSE(messenger_.owes_aborts());
  EXPECT_EQ(messenger_.known_peers().made(), 0U);
}

TEST_F(UnmetPeers, ComeNoMoreWhenTheWorldEnds) {
  const std::vector<std::uint32_t> members{1, 2};
  ASSERT_TRUE(messenger_.open_context(40, members));
  const Request& in_world = receive_from_any(0);
  const Request& in_group = receive_from_any(40);
  messenger_.end();
  EXPECT_EQ(in_world.status.code(), Code::closed);
  EXPECT_EQ(in_group.status.code(), Code::closed);
  SendSpec spec;
  spec.destination = 2;
  spec.data = &byte_;
  spec.bytes = 1;
  EXPECT_EQ(messenger_.send(spec).status.code(), Code::closed);
}

}  // namespace
}  // namespace parley::transport
