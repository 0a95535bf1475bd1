// The faults happen, as often as planned, at the same moments for the same seed; and the cuts do what they
// say.
#include "transport/fault/fault_transport.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/contract/transport/inproc_world.h"
#include "tests/contract/transport/party.h"
#include "tests/fault/fault_world.h"

namespace parley::transport::fault {
namespace {

using base::Code;
using contract::CheckedLink;
using contract::Party;

// Up to three processes in one thread. Process 1 has the plan, the others have no faults.
class FaultTest : public testing::Test {
 protected:
  void make(const FaultPlan& plan, std::size_t count = 2) {
    parties_.clear();
    world_ = std::make_unique<FaultWorld>(std::make_unique<contract::InprocWorld>(),
                                          [plan](PeerId self) { return self == 1 ? plan : FaultPlan{}; });
    for (std::size_t i = 0; i < count; ++i)
      parties_.push_back(std::make_unique<Party>(*world_, static_cast<PeerId>(i)));
    for (std::size_t i = 0; i < count; ++i)
      if (i != 1) party(i).connect(1, party(1).transport().address());
    run([count](Party& one) { return one.links().size() == (one.self() == 1 ? count - 1 : 1); });
  }
  void run(const std::function<bool(Party&)>& finished) {
    contract::run_until(parties_, contract::Drive::one_thread, finished);
  }
  Party& party(std::size_t index) { return *parties_[index]; }
  CheckedLink& sender() { return *party(0).link_to(1); }
  CheckedLink& faulty() { return *party(1).link_to(0); }

  // Sends `count` packets to process 1 and returns what it had received after each of its calls of
  // progress().
  std::vector<std::uint64_t> course(std::size_t count, std::size_t bytes) {
    sender().send(std::vector<std::size_t>(count, bytes));
    std::vector<std::uint64_t> received;
    while (faulty().received() < count && received.size() < 10'000) {
      party(0).step();
      party(1).step();
      received.push_back(faulty().received());
    }
    EXPECT_EQ(faulty().received(), count);
    return received;
  }
  // Sends five packets, the third of which is cut, and waits for the end on both sides.
  void cut_third(Cut cut, std::size_t bytes) {
    make({.cut = cut, .cut_at_packet = 3});
    sender().send(std::vector<std::size_t>(5, bytes));
    run([](Party& one) { return !one.links()[0]->is_open(); });
    EXPECT_EQ(faulty().received(), 2U);
    EXPECT_EQ(sender().reason().code(), Code::peer_died);
  }

  std::unique_ptr<FaultWorld> world_;
  contract::Parties parties_;
};

TEST_F(FaultTest, NamesWhatItDecorates) {
  make({});
  EXPECT_EQ(party(0).transport().name(), "fault(inproc)");
}

TEST_F(FaultTest, WithoutFaultsNothingIsHeldBack) {
  make({});
  EXPECT_EQ(course(10, 100), (std::vector<std::uint64_t>{10}));
  EXPECT_EQ(sender().refusals(), 0U);
  EXPECT_EQ(faulty().landings(), 0U);
}

TEST_F(FaultTest, DelayedPacketsWaitForCallsOfProgress) {
  make({.seed = 5, .delay_permille = 1000, .delay_most = 20});
  const auto received = course(10, 100);
  EXPECT_EQ(received.front(), 0U);
  EXPECT_GT(received.size(), 3U);
}

TEST_F(FaultTest, NobodySleepsOnAHeldPacket) {
  make({.seed = 5, .delay_permille = 1000, .delay_most = 5});
  EXPECT_TRUE(party(1).transport().arm());
  sender().send({8});
  party(1).step();
  ASSERT_EQ(faulty().received(), 0U);
  while (faulty().received() == 0) {
    EXPECT_FALSE(party(1).transport().arm());
    party(1).step();
  }
  EXPECT_TRUE(party(1).transport().arm());
}

TEST_F(FaultTest, RefusalsComeInStormsAndEnd) {
  make({.seed = 7, .refuse_permille = 500, .refuse_most = 10});
  faulty().send(std::vector<std::size_t>(200, 50));
  run([](Party& one) {
    return one.self() == 1 ? one.links()[0]->is_all_sent() : one.links()[0]->received() == 200;
  });
  EXPECT_GT(faulty().refusals(), 50U);
  EXPECT_EQ(sender().refusals(), 0U);
}

TEST_F(FaultTest, SplitPayloadsLandInPieces) {
  make({.seed = 3, .split_permille = 1000, .split_pieces = 8});
  const auto received = course(20, 100);
  EXPECT_EQ(faulty().landings(), 20U);
  EXPECT_GT(received.size(), 30U) << "about four calls of progress() per packet";
}

TEST_F(FaultTest, TheSameSeedGivesTheSameCourse) {
  const auto run_with = [&](std::uint64_t seed) {
    make({.seed = seed, .delay_permille = 300, .split_permille = 300});
    return course(100, 64);
  };
  const auto first = run_with(42);
  EXPECT_EQ(run_with(42), first);
  EXPECT_NE(run_with(43), first);
}

TEST_F(FaultTest, ADyingLinkLosesThePacketAndEndsOnBothSides) {
  for (const std::size_t bytes : {0U, 100U, 100'000U}) {
    SCOPED_TRACE(bytes);
    cut_third(Cut::link_dies, bytes);
    EXPECT_EQ(faulty().reason().code(), Code::peer_died);
  }
}

TEST_F(FaultTest, ATruncatedPacketNeverLands) {
  for (const std::size_t bytes : {100U, 100'000U}) {
    SCOPED_TRACE(bytes);
    cut_third(Cut::truncation, bytes);
    EXPECT_TRUE(faulty().is_landing()) << "on_header() came, on_landed() did not";
    EXPECT_EQ(faulty().reason().code(), Code::protocol_violation);
  }
}

TEST_F(FaultTest, ACorruptPacketIsNotDelivered) {
  for (const std::size_t bytes : {0U, 100U, 100'000U}) {
    SCOPED_TRACE(bytes);
    cut_third(Cut::corruption, bytes);
    EXPECT_FALSE(faulty().is_landing());
    EXPECT_EQ(faulty().reason().code(), Code::protocol_violation);
  }
}

TEST_F(FaultTest, ADyingLinkLeavesTheOthers) {
  make({.cut = Cut::link_dies, .cut_at_packet = 1}, 3);
  sender().send({10});
  run([](Party& one) { return one.self() == 2 || !one.link_to(one.self() == 0 ? 1 : 0)->is_open(); });
  CheckedLink& other = *party(2).link_to(1);
  EXPECT_TRUE(other.is_open());
  other.send({10, 20});
  run([](Party& one) { return one.self() != 1 || one.link_to(2)->received() == 2; });
}

TEST_F(FaultTest, ADyingProcessEndsAllItsLinks) {
  make({.cut = Cut::process_dies, .cut_at_packet = 4}, 3);
  sender().send({1, 20'000, 3, 4, 5});
  run([](Party& one) {
    for (const auto& link : one.links())
      if (link->is_open()) return false;
    return true;
  });
  EXPECT_EQ(faulty().received(), 3U);
  for (const std::size_t survivor : {0U, 2U})
    EXPECT_EQ(party(survivor).links()[0]->reason().code(), Code::peer_died);
  party(2).connect(1, party(1).transport().address());
  run([](Party& one) { return one.self() != 2 || one.unreachable().size() == 1; });
}

TEST_F(FaultTest, PendingSendsEndWithTheLink) {
  make({.cut = Cut::link_dies, .cut_at_packet = 1});
  faulty().send(std::vector<std::size_t>(3, 200'000));
  sender().send(std::vector<std::size_t>(3, 200'000));
  // CheckedLink::closed() fails when a completion is missing.
  run([](Party& one) { return !one.links()[0]->is_open(); });
}

}  // namespace
}  // namespace parley::transport::fault
