// What both ends of a link within a process see of offers.
#include "transport/inproc/device_offers.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace parley::transport {
namespace {

class DeviceOffersTest : public testing::Test {
 protected:
  std::shared_ptr<DeviceOffers> offers = std::make_shared<DeviceOffers>();
  std::optional<InprocLedger> sender{std::in_place, offers, 0U, 1U}, receiver{std::in_place, offers, 1U, 0U};
};

TEST_F(DeviceOffersTest, AreEndedByWhoeverComesFirst) {
  const auto taken = sender->open_offer(), withdrawn = sender->open_offer();
  ASSERT_TRUE(taken && withdrawn);
  EXPECT_TRUE(receiver->take_offer(*taken));
  receiver->note_copy_told(*taken);
  EXPECT_FALSE(receiver->take_offer(*taken)) << "once";
  EXPECT_FALSE(sender->withdraw_offer(*taken));
  EXPECT_TRUE(sender->withdraw_offer(*withdrawn));
  EXPECT_FALSE(receiver->take_offer(*withdrawn));
}

TEST_F(DeviceOffersTest, OfOneEndAreNotTheOthers) {
  const auto offer = sender->open_offer();
  ASSERT_TRUE(offer);
  EXPECT_FALSE(sender->take_offer(*offer));
  EXPECT_TRUE(receiver->take_offer(*offer));
}

TEST_F(DeviceOffersTest, OfALinkToOneselfAreTakenByOneself) {
  InprocLedger both(offers, 0, 0);
  const auto offer = both.open_offer();
  ASSERT_TRUE(offer);
  EXPECT_TRUE(both.take_offer(*offer));
  both.note_copy_told(*offer);
  EXPECT_FALSE(both.withdraw_offer(*offer));
  EXPECT_EQ(both.own_words(), both.peer_words());
}

TEST_F(DeviceOffersTest, AreSoManyAndUsedAgain) {
  std::vector<OfferTicket> tickets;
  while (const auto offer = sender->open_offer()) tickets.push_back(*offer);
  EXPECT_EQ(tickets.size(), 128U);
  EXPECT_TRUE(receiver->take_offer(tickets[7]));
  receiver->note_copy_told(tickets[7]);
  sender->note_offer_taken(tickets[7]);
  const auto again = sender->open_offer();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->word, tickets[7].word);
  EXPECT_FALSE(receiver->take_offer(tickets[7])) << "the new one is another";
  EXPECT_TRUE(receiver->take_offer(*again));
}

TEST_F(DeviceOffersTest, HaveWordsBesideThemThatOutliveTheLink) {
  EXPECT_EQ(sender->own_words(), receiver->peer_words());
  EXPECT_EQ(sender->peer_words(), receiver->own_words());
  EXPECT_NE(sender->own_words(), receiver->own_words());
  const std::shared_ptr<std::byte> words = receiver->own_words();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(words.get()) % offer_word_bytes, 0U);
  const std::weak_ptr<DeviceOffers> kept = offers;
  sender.reset();
  receiver.reset();
  offers.reset();
  EXPECT_FALSE(kept.expired());
  for (std::size_t i = 0; i < offer_word_bytes; ++i) EXPECT_EQ(words.get()[i], std::byte{});
}

// Its owner goes on when the copy has been told, and not in between.
TEST_F(DeviceOffersTest, AreNotGivenUpWhileTheirCopyIsTold) {
  const auto offer = sender->open_offer();
  ASSERT_TRUE(offer);
  ASSERT_TRUE(receiver->take_offer(*offer));
  std::atomic<bool> is_told{false};
  std::thread withdraws([&] {
    EXPECT_FALSE(sender->withdraw_offer(*offer));
    EXPECT_TRUE(is_told);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  is_told = true;
  receiver->note_copy_told(*offer);
  withdraws.join();
}

// Each offer is either withdrawn or taken, also where both ends try at the same time.
TEST_F(DeviceOffersTest, AreEndedOnceByTwoThreads) {
  constexpr std::size_t rounds = 2000;
  std::atomic<std::uint64_t> offered{0}, answered{0};  // rounds begun, and the receiver's done
  std::atomic<std::uint32_t> word{0}, generation{0};
  std::vector<char> is_taken(rounds);
  std::thread takes([&] {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      while (offered == round) std::this_thread::yield();
      const OfferTicket ticket{word, generation};
      is_taken[round] = receiver->take_offer(ticket) ? 1 : 0;
      if (is_taken[round] != 0) receiver->note_copy_told(ticket);
      ++answered;
    }
  });
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto offer = sender->open_offer();
    ASSERT_TRUE(offer);
    word = offer->word;
    generation = offer->generation;
    offered = round + 1;
    if (round % 2 != 0) std::this_thread::yield();
    const bool is_withdrawn = sender->withdraw_offer(*offer);
    while (answered == round) std::this_thread::yield();
    EXPECT_NE(is_withdrawn, is_taken[round] != 0) << round;
  }
  takes.join();
}

}  // namespace
}  // namespace parley::transport
