// Links come up, on both sides, or it is told by the deadline that they do not; sleepers wake.
#include <algorithm>
#include <chrono>

#include "tests/contract/transport/transport_contract.h"

namespace parley::transport::contract {
namespace {

using base::Code;
using base::Deadline;

TEST_P(TransportContract, ALinkIsToldOnceToBothSides) {
  make_parties(2);
  link(0, 1);
  run_until([](Party& one) { return !one.links().empty(); });
  run_idle();
  ASSERT_EQ(party(0).links().size(), 1U);
  ASSERT_EQ(party(1).links().size(), 1U);
  EXPECT_EQ(party(0).links()[0]->peer(), 1U);
  EXPECT_EQ(party(1).links()[0]->peer(), 0U);
  EXPECT_TRUE(party(0).unreachable().empty());
}

TEST_P(TransportContract, SendsFromInsideOnLink) {
  make_parties(2);
  for (const auto& one : parties_) one->on_linked = [](CheckedLink& link) { link.send({100, 50'000}); };
  link(0, 1);
  run_until([](Party& one) { return !one.links().empty() && one.links()[0]->received() == 2; });
}

TEST_P(TransportContract, TheFirstPacketOfALinkIsTakenAndArrivesEvenIfItIsTheLast) {
  make_parties(2);
  party(1).on_linked = [](CheckedLink& link) {
    link.send({0});
    EXPECT_EQ(link.taken(), 1U);
    link.close();
  };
  link(0, 1);
  run_until([](Party& one) { return !one.links().empty() && !one.links()[0]->is_open(); });
  EXPECT_EQ(party(0).links()[0]->received(), 1U);
}

TEST_P(TransportContract, CrossingConnectsMakeTwoLinksThatWork) {
  make_parties(2);
  link(0, 1);
  link(1, 0);
  run_until([](Party& one) { return one.links().size() == 2; });
  for (const auto& one : parties_)
    for (const auto& link : one->links()) link->send({10, 20'000});
  run_until([](Party& one) { return one.links()[0]->received() == 2 && one.links()[1]->received() == 2; });
}

TEST_P(TransportContract, ALinkToOneselfIsOneEndpoint) {
  if (!world_->links_to_itself()) return;
  make_parties(1);
  link(0, 0);
  run_until([](Party& one) { return !one.links().empty(); });
  CheckedLink& self = *party(0).links()[0];
  EXPECT_EQ(self.peer(), 0U);
  const std::vector<std::size_t> sizes{0, 1, 5000, 100'000, max_payload_bytes, 3};
  self.send(sizes);
  run_until([&](Party&) { return self.received() == sizes.size() && self.is_all_sent(); });
  EXPECT_EQ(party(0).links().size(), 1U);
  self.send({7, 50'000});
  self.close();
  run_until([&](Party&) { return !self.is_open(); });
}

TEST_P(TransportContract, AnAddressWithoutAnybodyIsUnreachableByTheDeadline) {
  make_parties(1);
  const auto addresses = world_->unreachable_addresses();
  ASSERT_FALSE(addresses.empty());
  for (const auto& address : addresses)
    party(0).connect(9, address, Deadline::after(std::chrono::milliseconds(300)));
  run_until([&](Party& one) { return one.unreachable().size() == addresses.size(); });
  run_idle();
  EXPECT_EQ(party(0).unreachable().size(), addresses.size()) << "told once each";
  EXPECT_TRUE(party(0).links().empty());
  for (const auto& one : party(0).unreachable()) {
    EXPECT_EQ(one.peer, 9U);
    EXPECT_TRUE(one.status.failed());
    EXPECT_FALSE(one.why.empty());
  }
}

TEST_P(TransportContract, SomebodyElsesAddressIsRefused) {
  make_parties(2);
  party(0).connect(7, party(1).transport().address());
  run_until([](Party& one) { return one.self() == 1 || !one.unreachable().empty(); });
  run_idle();
  ASSERT_EQ(party(0).unreachable().size(), 1U);
  EXPECT_EQ(party(0).unreachable()[0].peer, 7U);
  EXPECT_EQ(party(0).unreachable()[0].status.code(), Code::refused);
  EXPECT_TRUE(party(0).links().empty());
  EXPECT_TRUE(party(1).links().empty());
}

TEST_P(TransportContract, WhoDoesNotKnowTheSecretIsRefusedEitherWay) {
  if (!world_->keeps_strangers_out()) return;
  make_parties(1);
  parties_.push_back(std::make_unique<Party>(world_->make_stranger_site(), PeerId{1}));
  link(0, 1);
  link(1, 0);
  run_until([](Party& one) { return !one.unreachable().empty(); });
  run_idle();
  for (const auto& one : parties_) {
    ASSERT_EQ(one->unreachable().size(), 1U);
    EXPECT_EQ(one->unreachable()[0].status.code(), Code::refused);
    EXPECT_TRUE(one->links().empty());
  }
}

TEST_P(TransportContract, StopAcceptingKeepsWhatIsThere) {
  make_linked(2);
  parties_.push_back(std::make_unique<Party>(world_->make_site(), PeerId{2}));
  const std::string address = party(1).transport().address();
  party(1).transport().stop_accepting();
  party(2).connect(1, address, Deadline::after(std::chrono::milliseconds(300)));
  link_of(0, 1).send({1, 2, 3});
  run_until([](Party& one) {
    if (one.self() == 2) return !one.unreachable().empty();
    return one.self() == 0 || one.links()[0]->received() == 3;
  });
  EXPECT_TRUE(party(2).links().empty());
  EXPECT_EQ(party(1).links().size(), 1U);
}

// The packet is there before the sleep is announced, or comes while it is. (With a thread each, all other
// tests rely on every kind of event to wake a sleeper.)
TEST_P(TransportContract, APacketWakesTheSleeper) {
  make_linked(2);
  for (int round = 0; round < 20; ++round) {
    run_idle();
    // No larger than is copied: the rest of a larger one may need its sender, who does nothing here.
    const std::size_t copied = link_of(0, 1).endpoint()->copy_limit_bytes();
    link_of(0, 1).send({std::min(static_cast<std::size_t>(round) * 500, copied)});
    const auto deadline = Party::patience();
    const auto wanted = static_cast<std::uint64_t>(round) + 1;
    while (link_of(0, 1).taken() < wanted && !deadline.expired()) party(0).step();
    while (link_of(1, 0).received() < wanted && !deadline.expired()) {
      if (party(1).step() == 0) party(1).sleep(deadline, [] { return false; });
    }
    ASSERT_EQ(link_of(1, 0).received(), wanted);
    ASSERT_FALSE(deadline.expired());
  }
}

TEST_P(TransportContract, RoomWakesTheSleeper) {
  make_linked(2);
  CheckedLink& sender = link_of(0, 1);
  const std::size_t taken = fill(sender, 5000);
  sender.send({1});
  party(0).step();
  // With a thread each, the sender sleeps without a limit of its own until the receiver has made room.
  run_until([&](Party& one) {
    return one.self() == 0 ? one.links()[0]->is_all_sent() : one.links()[0]->received() == taken + 1;
  });
}

}  // namespace
}  // namespace parley::transport::contract
