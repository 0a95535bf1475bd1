// What both ends of a link see of offers.
#include "transport/inproc/inproc_offers.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace parley::transport {
namespace {

class InprocOffersTest : public testing::Test {
 protected:
  std::shared_ptr<InprocOffers> offers = std::make_shared<InprocOffers>();
  InprocLedger dialler{offers, 0, 1}, acceptor{offers, 1, 0};
};

TEST_F(InprocOffersTest, AreEndedByWhoeverComesFirst) {
  const auto taken = dialler.open_offer(), withdrawn = dialler.open_offer();
  ASSERT_TRUE(taken && withdrawn);
  EXPECT_TRUE(acceptor.take_offer(*taken));
  EXPECT_FALSE(acceptor.take_offer(*taken)) << "once";
  EXPECT_FALSE(dialler.withdraw_offer(*taken));
  EXPECT_TRUE(dialler.withdraw_offer(*withdrawn));
  EXPECT_FALSE(acceptor.take_offer(*withdrawn));
}

TEST_F(InprocOffersTest, OfOneEndAreNotTheOthers) {
  const auto offer = dialler.open_offer();
  ASSERT_TRUE(offer);
  EXPECT_FALSE(dialler.take_offer(*offer));
  EXPECT_FALSE(acceptor.withdraw_offer(*offer));
  EXPECT_TRUE(acceptor.take_offer(*offer));
}

TEST_F(InprocOffersTest, OfALinkToOneselfAreTakenByOneself) {
  InprocLedger both(offers, 0, 0);
  const auto offer = both.open_offer();
  ASSERT_TRUE(offer);
  EXPECT_TRUE(both.take_offer(*offer));
  EXPECT_EQ(both.own_words(), both.peer_words());
}

TEST_F(InprocOffersTest, HaveWordsBesideThemThatOutliveTheLink) {
  EXPECT_EQ(dialler.own_words(), acceptor.peer_words());
  EXPECT_EQ(dialler.peer_words(), acceptor.own_words());
  EXPECT_NE(dialler.own_words(), acceptor.own_words());
  const std::shared_ptr<std::byte> words = acceptor.own_words();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(words.get()) % offer_word_bytes, 0U);
  offers.reset();
  for (std::size_t i = 0; i < offer_word_bytes; ++i) EXPECT_EQ(words.get()[i], std::byte{});
}

// Each offer is either withdrawn or taken, also where both ends try at the same time.
TEST_F(InprocOffersTest, AreEndedOnceByTwoThreads) {
  constexpr std::size_t count = 2000;
  std::array<std::vector<bool>, 2> ended{std::vector<bool>(count), std::vector<bool>(count)};
  std::vector<OfferTicket> tickets;
  for (std::size_t i = 0; i < count; ++i) tickets.push_back(dialler.open_offer().value());
  std::thread receiver([&] {
    for (std::size_t i = 0; i < count; ++i) ended[1][i] = acceptor.take_offer(tickets[i]);
  });
  for (std::size_t i = 0; i < count; ++i) ended[0][i] = dialler.withdraw_offer(tickets[i]);
  receiver.join();
  for (std::size_t i = 0; i < count; ++i) EXPECT_NE(ended[0][i], ended[1][i]) << i;
}

}  // namespace
}  // namespace parley::transport
