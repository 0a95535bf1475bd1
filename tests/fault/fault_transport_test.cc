// The faults happen, as often as planned, at the same moments for the same seed.
#include "transport/fault/fault_transport.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/contract/transport/inproc_world.h"
#include "tests/fault/fault_parties.h"

namespace parley::transport::fault {
namespace {

using contract::CheckedLink;
using contract::Party;

// Over inproc, where the same calls take the same course.
class FaultTest : public testing::Test {
 protected:
  void make(const FaultPlan& plan) {
    parties_.reset();
    parties_.emplace(std::make_unique<contract::InprocWorld>(), plan, 2);
  }
  void run(const std::function<bool(Party&)>& finished) { parties_->run(finished); }
  Party& party(std::size_t index) { return parties_->party(index); }
  CheckedLink& sender() { return parties_->sender(); }
  CheckedLink& faulty() { return parties_->faulty(); }

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

  std::optional<FaultParties> parties_;
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

}  // namespace
}  // namespace parley::transport::fault
