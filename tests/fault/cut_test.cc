// The cuts end links as they say, on both sides, whatever transport is inside.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "tests/fault/fault_parties.h"
#include "tests/fault/inner_worlds.h"

namespace parley::transport::fault {
namespace {

using base::Code;
using contract::CheckedLink;
using contract::Party;

class CutTest : public testing::TestWithParam<InnerWorld> {
 protected:
  void make(const FaultPlan& plan, std::size_t count = 2) {
    parties_.reset();
    parties_.emplace(GetParam().make(), plan, count);
  }
  void run(const std::function<bool(Party&)>& finished) { parties_->run(finished); }
  Party& party(std::size_t index) { return parties_->party(index); }
  CheckedLink& sender() { return parties_->sender(); }
  CheckedLink& faulty() { return parties_->faulty(); }

  // Sends five packets, the third of which is cut, and waits for the end on both sides.
  void cut_third(Cut cut, std::size_t bytes) {
    make({.cut = cut, .cut_at_packet = 3});
    sender().send(std::vector<std::size_t>(5, bytes));
    run([](Party& one) { return !one.links()[0]->is_open(); });
    EXPECT_EQ(faulty().received(), 2U);
    EXPECT_EQ(sender().reason().code(), Code::peer_died);
  }

  std::optional<FaultParties> parties_;
};

TEST_P(CutTest, ADyingLinkLosesThePacketAndEndsOnBothSides) {
  for (const std::size_t bytes : {0U, 100U, 100'000U}) {
    SCOPED_TRACE(bytes);
    cut_third(Cut::link_dies, bytes);
    EXPECT_EQ(faulty().reason().code(), Code::peer_died);
  }
}

TEST_P(CutTest, ATruncatedPacketNeverLands) {
  for (const std::size_t bytes : {100U, 100'000U}) {
    SCOPED_TRACE(bytes);
    cut_third(Cut::truncation, bytes);
    EXPECT_TRUE(faulty().is_landing()) << "on_header() came, on_landed() did not";
    EXPECT_EQ(faulty().reason().code(), Code::protocol_violation);
  }
}

TEST_P(CutTest, ACorruptPacketIsNotDelivered) {
  for (const std::size_t bytes : {0U, 100U, 100'000U}) {
    SCOPED_TRACE(bytes);
    cut_third(Cut::corruption, bytes);
    EXPECT_FALSE(faulty().is_landing());
    EXPECT_EQ(faulty().reason().code(), Code::protocol_violation);
  }
}

TEST_P(CutTest, ADyingLinkLeavesTheOthers) {
  make({.cut = Cut::link_dies, .cut_at_packet = 1}, 3);
  sender().send({10});
  run([](Party& one) { return one.self() == 2 || !one.link_to(one.self() == 0 ? 1 : 0)->is_open(); });
  CheckedLink& other = *party(2).link_to(1);
  EXPECT_TRUE(other.is_open());
  other.send({10, 20});
  run([](Party& one) { return one.self() != 1 || one.link_to(2)->received() == 2; });
}

TEST_P(CutTest, ADyingProcessEndsAllItsLinks) {
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
  party(2).connect(1, party(1).transport().address(), base::Deadline::after(std::chrono::milliseconds(300)));
  run([](Party& one) { return one.self() != 2 || one.unreachable().size() == 1; });
}

TEST_P(CutTest, PendingSendsEndWithTheLink) {
  make({.cut = Cut::link_dies, .cut_at_packet = 1});
  faulty().send(std::vector<std::size_t>(3, 200'000));
  sender().send(std::vector<std::size_t>(3, 200'000));
  // CheckedLink::closed() fails when a completion is missing.
  run([](Party& one) { return !one.links()[0]->is_open(); });
}

INSTANTIATE_TEST_SUITE_P(Inner, CutTest, testing::ValuesIn(inner_worlds()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace parley::transport::fault
