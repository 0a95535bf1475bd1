#include "api/wireup/card_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/api/watched_store.h"

namespace parley::wireup {
namespace {

using namespace std::chrono_literals;
using rendezvous::AddressCard;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string prefix = "card/";

std::shared_ptr<Roster> strangers(std::size_t count) {
  return std::make_shared<Roster>(Topology(std::vector<AddressCard>(count)));
}

// What was delivered.
class Inbox {
 public:
  CardDesk::Deliver slot() {
    return [this](std::span<const int> ranks, const std::string& why) {
      const std::lock_guard lock(mutex_);
      ranks_.insert(ranks_.end(), ranks.begin(), ranks.end());
      if (!why.empty()) why_ = why;
    };
  }
  std::vector<int> await(std::size_t count) {
    for (;; std::this_thread::yield()) {
      const std::lock_guard lock(mutex_);
      if (ranks_.size() >= count) return ranks_;
    }
  }
  std::string why() {
    const std::lock_guard lock(mutex_);
    return why_;
  }

 private:
  std::mutex mutex_;
  std::vector<int> ranks_;
  std::string why_;
};

void put_card(Store& store, int rank, const std::string& address) {
  AddressCard card;
  card.pid = 40 + rank;
  card.tcp_address = address;
  store.set(prefix + std::to_string(rank), rendezvous::encode(card));
}

TEST(CardDesk, ReadsWhatIsWantedAndTheRosterKnowsIt) {
  const auto store = make_memory_store();
  const auto roster = strangers(2);
  put_card(*store, 1, "there");
  Inbox inbox;
  CardDesk desk(store, prefix, roster, inbox.slot());
  EXPECT_FALSE(roster->card(1));
  desk.want(1);
  EXPECT_THAT(inbox.await(1), ElementsAre(1));
  EXPECT_EQ(inbox.why(), "");
  EXPECT_EQ(roster->card(1).value().tcp_address, "there");
  EXPECT_THAT(roster->name_of(1), HasSubstr("pid 41"));
}

// The store is asked for the first card; what is wanted meanwhile is read together, each once.
TEST(CardDesk, ReadsTogetherWhatIsWantedMeanwhile) {
  WatchedStore store(make_memory_store());
  put_card(store, 0, "a");
  Inbox inbox;
  const std::shared_ptr<Store> unowned(&store, [](Store*) {});
  CardDesk desk(unowned, prefix, strangers(3), inbox.slot());
  desk.want(1);
  while (store.calls_of("multi_get") == 0) std::this_thread::yield();
  for (const int rank : {2, 0, 2, 0}) desk.want(rank);
  put_card(store, 2, "c");
  put_card(store, 1, "b");
  EXPECT_THAT(inbox.await(3), ElementsAre(1, 0, 2));
  EXPECT_EQ(store.calls_of("multi_get"), 2);
}

// It came to nothing, and whoever hears so may wish for it at once.
TEST(CardDesk, WhatIsWantedInADeliveryIsReadAgain) {
  const auto store = make_memory_store();
  store->set_string(prefix + "1", "no card");
  Inbox inbox;
  CardDesk* again = nullptr;
  CardDesk desk(store, prefix, strangers(2), [&](std::span<const int> ranks, const std::string& why) {
    put_card(*store, 1, "there");
    if (!why.empty()) again->want(1);
    inbox.slot()(ranks, why);
  });
  again = &desk;
  desk.want(1);
  EXPECT_THAT(inbox.await(2), ElementsAre(1, 1));
}

TEST(CardDesk, SaysWhyACardCannotBeHad) {
  const auto store = make_memory_store();
  store->set_string(prefix + "1", "no card");
  Inbox inbox;
  CardDesk desk(store, prefix, strangers(2), inbox.slot());
  desk.want(1);
  inbox.await(1);
  EXPECT_THAT(inbox.why(),
              HasSubstr("its address cannot be read from the store: a rank runs another version"));
}

TEST(CardDesk, SaysThatTheStoreIsClosed) {
  auto store = make_memory_store();
  Inbox inbox;
  CardDesk desk(std::exchange(store, nullptr), prefix, strangers(2), inbox.slot());
  desk.want(1);
  inbox.await(1);
  EXPECT_EQ(inbox.why(), "the store with its address is closed");
}

// The store waits for a card that never comes; nothing is delivered after the end.
TEST(CardDesk, EndsWhileTheStoreIsAsked) {
  const auto store = make_memory_store();
  Inbox inbox;
  const auto begin = std::chrono::steady_clock::now();
  {
    CardDesk desk(store, prefix, strangers(2), inbox.slot());
    desk.want(1);
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
  put_card(*store, 1, "late");
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(inbox.await(0).size(), 0U);
}

}  // namespace
}  // namespace parley::wireup
