#include "api/wireup/roll_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/error.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/wireup/rank_claim.h"
#include "tests/unit/api/watched_store.h"

namespace parley::wireup {
namespace {

using namespace std::chrono_literals;
using rendezvous::AddressCard;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Addresses = std::vector<std::string>;

AddressCard card(const std::string& address) {
  return {.host = "a", .host_id = "a-id", .pid = 7, .tcp_address = address, .cores = {}};
}

base::Deadline soon() {
  return base::Deadline::after(60s);
}

// One join of a rank; empty when the world was made without it.
Addresses join(Store& store, int rank, int size, const std::string& address,
               base::Deadline deadline = soon()) {
  RollCall roll_call(store, rank, size, deadline);
  const auto outcome = roll_call.exchange(card(address), {});
  Addresses addresses;
  if (outcome)
    for (const auto& one : outcome->listing.cards) addresses.push_back(one.tcp_address);
  return addresses;
}

std::future<Addresses> join_later(Store& store, int rank, int size, const std::string& address) {
  return std::async(std::launch::async, [=, &store] { return join(store, rank, size, address); });
}

template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const InitError& error) {
    return error.what();
  }
  return "no error";
}

TEST(RollCall, EachWorldIsARoundOfItsOwn) {
  const auto store = make_memory_store();
  for (int round = 1; round <= 3; ++round) {
    const std::string suffix = std::to_string(round);
    auto other = join_later(*store, 1, 2, "b" + suffix);
    EXPECT_THAT(join(*store, 0, 2, "a" + suffix), ElementsAre("a" + suffix, "b" + suffix));
    EXPECT_THAT(other.get(), ElementsAre("a" + suffix, "b" + suffix));
  }
}

// However many worlds there were, a rank that comes for the first time finds the present round.
TEST(RollCall, OldRoundsLeaveNothingButTheirNumber) {
  const auto store = make_memory_store();
  std::size_t keys = 0;
  for (int round = 1; round <= 20; ++round) {
    auto other = std::async(std::launch::async, [&] { join(*store, 1, 2, "b"); });
    RollCall first(*store, 0, 2, soon());
    EXPECT_NE(first.agree_on_job(), socket::JobId{});
    ASSERT_TRUE(first.exchange(card("a"), {}));
    other.get();
    first.forget_older_rounds();
    if (round == 3) keys = store->key_count();
    if (round > 3) {
      EXPECT_EQ(store->key_count(), keys) << round;
    }
  }
  auto third = join_later(*store, 2, 3, "c");
  auto second = join_later(*store, 1, 3, "b");
  EXPECT_THAT(join(*store, 0, 3, "a"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(second.get(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(third.get(), ElementsAre("a", "b", "c"));
}

TEST(RollCall, ARankThatFailedBeforeItsCardComesToTheSameRound) {
  const auto store = make_memory_store();
  auto other = join_later(*store, 0, 2, "a");
  { const RollCall failed(*store, 1, 2, soon()); }
  EXPECT_THAT(join(*store, 1, 2, "b"), ElementsAre("a", "b"));
  EXPECT_THAT(other.get(), ElementsAre("a", "b"));
}

// The others have read the card of the first process already.
TEST(RollCall, ACardIsReplacedByThatOfTheNextProcessOfTheRank) {
  const auto store = make_memory_store();
  EXPECT_THAT(refusal([&] { join(*store, 1, 3, "stale", base::Deadline::after(10ms)); }),
              HasSubstr("missing ranks: 0, 2; joined: 1"));
  auto first = join_later(*store, 0, 3, "a");
  auto third = join_later(*store, 2, 3, "c");
  while (store->key_count("parley/1/confirmed/") < 2) std::this_thread::yield();
  EXPECT_THAT(join(*store, 1, 3, "fresh"), ElementsAre("a", "fresh", "c"));
  EXPECT_THAT(first.get(), ElementsAre("a", "fresh", "c"));
  EXPECT_THAT(third.get(), ElementsAre("a", "fresh", "c"));
}

TEST(RollCall, WhoIsDeadSinceItsCardIsMissing) {
  const auto store = make_memory_store();
  refusal([&] { join(*store, 1, 2, "stale", base::Deadline::after(10ms)); });
  EXPECT_THAT(refusal([&] { join(*store, 0, 2, "a", base::Deadline::after(300ms)); }),
              HasSubstr("missing ranks: 1; joined: 0"));
}

// Rank 1 died when all had confirmed; who comes after it takes part in the next world.
TEST(RollCall, AProcessThatTheWorldWasMadeWithoutIsToldToBeginAgain) {
  const auto store = make_memory_store();
  RollCall dead(*store, 1, 2, soon());
  RollCall late(*store, 1, 2, soon());
  auto other = join_later(*store, 0, 2, "a");
  EXPECT_TRUE(dead.exchange(card("dead"), {}));
  EXPECT_THAT(other.get(), ElementsAre("a", "dead"));
  EXPECT_FALSE(late.exchange(card("late"), {}));
  auto again = join_later(*store, 1, 2, "late");
  EXPECT_THAT(join(*store, 0, 2, "a2"), ElementsAre("a2", "late"));
  EXPECT_THAT(again.get(), ElementsAre("a2", "late"));
}

// Rank 0, which dies when it has written its list and would make the world.
class RollCallWithoutRank0 : public ::testing::Test {
 protected:
  RollCallWithoutRank0() {
    of_rank_0_.on_call([this](const std::string& name, const WatchedStore::Keys& keys) {
      const bool makes_world = of_rank_0_.calls_of("multi_set") == 1 && name == "compare_set";
      if (!makes_world || !keys.at(0).ends_with("/roster")) return;
      while (store_.key_count("parley/1/confirmed/0/") < size_) std::this_thread::yield();
      throw StoreError("rank 0 is no more");
    });
  }
  void rank_0_dies(int size) {
    size_ = static_cast<std::size_t>(size);
    EXPECT_THROW(join(of_rank_0_, 0, size, "stale"), StoreError);
  }

  WatchedStore of_rank_0_{make_memory_store()};
  Store& store_ = *of_rank_0_.inner();
  std::size_t size_ = 0;
};

// The next process of the rank makes another list, which all go by.
TEST_F(RollCallWithoutRank0, TheNextProcessOfRank0MakesAnotherList) {
  auto second = join_later(store_, 1, 3, "b");
  auto third = join_later(store_, 2, 3, "c");
  rank_0_dies(3);
  EXPECT_THAT(join(store_, 0, 3, "fresh"), ElementsAre("fresh", "b", "c"));
  EXPECT_THAT(second.get(), ElementsAre("fresh", "b", "c"));
  EXPECT_THAT(third.get(), ElementsAre("fresh", "b", "c"));
}

// The list is not its own: nobody may say that the store is silent because it has not confirmed that.
TEST_F(RollCallWithoutRank0, WhoComesAgainIsToldThatRank0IsMissing) {
  auto other = std::async(std::launch::async, [&] {
    return refusal([&] { join(store_, 1, 2, "b", base::Deadline::after(500ms)); });
  });
  rank_0_dies(2);
  EXPECT_THAT(other.get(), HasSubstr("missing ranks: 0; joined: 1"));
  EXPECT_THAT(refusal([&] { join(store_, 1, 2, "again", base::Deadline::after(100ms)); }),
              HasSubstr("missing ranks: 0; joined: 1"));
}

AddressCard at_place(const std::string& host, const std::string& pid_namespace, std::int64_t pid) {
  AddressCard card;
  card.host = card.host_id = host;
  card.pid = pid;
  card.pid_namespace = pid_namespace;
  return card;
}

// All ranks of a large world; the outcome of one of them.
RollCall::Outcome outcome_of(int wanted, Store& store, const std::vector<AddressCard>& cards,
                             const RollCall::Terms& terms) {
  const int size = static_cast<int>(cards.size());
  const auto exchange = [&](int rank) {
    return RollCall(store, rank, size, soon()).exchange(cards[static_cast<std::size_t>(rank)], terms);
  };
  std::vector<std::future<void>> others;
  for (int rank = 0; rank < size; ++rank)
    if (rank != wanted) others.push_back(std::async(std::launch::async, [&, rank] { exchange(rank); }));
  auto outcome = exchange(wanted);
  for (auto& other : others) other.get();
  return std::move(outcome).value();
}

TEST(RollCall, OfALargeWorldARankLearnsWhereAllAreAndWhoIsInItsPlace) {
  for (const int rank : {0, 2}) {
    const auto store = make_memory_store();
    const auto outcome =
        outcome_of(rank, *store, {at_place("a", "x", 10), at_place("a", "y", 11), at_place("a", "x", 12)},
                   {.all_cards = false});
    EXPECT_EQ(outcome.listing.topology.size(), 3);
    EXPECT_FALSE(outcome.listing.has_all_cards());
    ASSERT_EQ(outcome.listing.cards.size(), 1U);
    EXPECT_EQ(outcome.listing.cards[0].pid, 10);
    ASSERT_EQ(outcome.neighbours.size(), 2U) << rank;
    EXPECT_EQ(outcome.neighbours[0].pid, 10);
    EXPECT_EQ(outcome.neighbours[1].pid, 12);
    const std::vector<int> second{1};
    EXPECT_EQ(read_cards(*store, "parley/1/card/", second, soon()).at(0).pid, 11);
  }
}

TEST(RollCall, WhatRank0FindsWrongIsToldToAll) {
  const auto store = make_memory_store();
  const RollCall::Terms terms{.review = [](const auto&) { return Complaint{true, 1, "no two alike"}; }};
  const auto outcome = outcome_of(1, *store, {at_place("a", "x", 10), at_place("b", "x", 11)}, terms);
  ASSERT_TRUE(outcome.listing.complaint);
  EXPECT_TRUE(outcome.listing.complaint->is_of_usage);
  EXPECT_EQ(outcome.listing.complaint->culprit, 1);
  EXPECT_EQ(outcome.listing.complaint->text, "no two alike");
}

// Rank 0 writes another list between a rank's look at the list and the one at its place.
TEST(RollCall, AListAndAPlaceOfTwoEditionsAreReadAgain) {
  WatchedStore of_rank_1(make_memory_store());
  Store& store = *of_rank_1.inner();
  bool is_next = false;
  of_rank_1.on_call([&](const std::string& name, const WatchedStore::Keys& keys) {
    if (name != "get" || !keys.at(0).starts_with("parley/1/place/") || std::exchange(is_next, true)) return;
    store.add("parley/1/renewals", 1);
    while (store.get_string("parley/1/list").front() == '\0') std::this_thread::sleep_for(1ms);
  });
  const RollCall::Terms terms{.all_cards = false};
  auto other = std::async(std::launch::async, [&] {
    return RollCall(store, 0, 2, soon()).exchange(at_place("a", "x", 10), terms);
  });
  const auto outcome = RollCall(of_rank_1, 1, 2, soon()).exchange(at_place("a", "x", 11), terms);
  EXPECT_EQ(outcome.value().listing.edition, 1);
  EXPECT_EQ(outcome.value().neighbours.size(), 2U);
  EXPECT_EQ(other.get().value().listing.edition, 1);
}

struct Requests {
  int calls = 0;
  std::size_t most_keys = 0;  // of one call
};

// What one rank asks the store for.
Requests requests_of_one(int size) {
  WatchedStore store(make_memory_store());
  Requests requests;
  store.on_call([&](const std::string&, const WatchedStore::Keys& keys) {
    requests.most_keys = std::max(requests.most_keys, keys.size());
  });
  const RollCall::Terms terms{.all_cards = false};
  const auto exchange = [&](Store& where, int rank) {
    EXPECT_TRUE(RollCall(where, rank, size, soon()).exchange(at_place("a", "x", rank), terms));
  };
  std::vector<std::future<void>> others;
  for (int rank = 0; rank < size; ++rank)
    if (rank != 1) others.push_back(std::async(std::launch::async, exchange, std::ref(*store.inner()), rank));
  exchange(store, 1);
  for (auto& other : others) other.get();
  requests.calls = store.calls();
  return requests;
}

// About a dozen, and a few more where the machine is slow: it looks again after a second, two seconds, ...
TEST(RollCall, ARankAsksForAsMuchHoweverManyThereAre) {
  for (const int size : {3, 30}) {
    const Requests requests = requests_of_one(size);
    EXPECT_LE(requests.calls, 14 + 8) << size;
    EXPECT_LE(requests.most_keys, 2U) << size;
  }
}

// Nobody of the first try is there any more, but its list is.
TEST_F(RollCallWithoutRank0, AWorldOfAnotherSizeMakesAnotherList) {
  auto second = std::async(std::launch::async, [&] {
    return refusal([&] { join(store_, 1, 2, "b", base::Deadline::after(500ms)); });
  });
  rank_0_dies(2);
  EXPECT_THAT(second.get(), HasSubstr("missing ranks: 0"));
  give_up_rank(store_, 0);
  give_up_rank(store_, 1);
  auto again = join_later(store_, 1, 3, "b");
  auto third = join_later(store_, 2, 3, "c");
  EXPECT_THAT(join(store_, 0, 3, "a"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(again.get(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(third.get(), ElementsAre("a", "b", "c"));
}

TEST(RollCall, AWrongSizeIsForgottenWithWhoeverSaidIt) {
  const auto store = make_memory_store();
  refusal([&] { join(*store, 1, 3, "wrong", base::Deadline::after(10ms)); });
  EXPECT_THAT(refusal([&] { join(*store, 0, 2, "a"); }), HasSubstr("different sizes: 2 ranks, says rank 0"));
  give_up_rank(*store, 1);
  auto other = join_later(*store, 0, 2, "a");
  EXPECT_THAT(join(*store, 1, 2, "b"), ElementsAre("a", "b"));
  EXPECT_THAT(other.get(), ElementsAre("a", "b"));
}

TEST(RollCall, ThoseWhoWaitAreToldWhoWasRefused) {
  const auto store = make_memory_store();
  auto waiting = std::async(std::launch::async, [&] {
    return refusal([&] { join(*store, 0, 2, "a", base::Deadline::after(1s)); });
  });
  while (store->key_count("parley/1/card/") == 0) std::this_thread::yield();
  EXPECT_THAT(refusal([&] { join(*store, 1, 3, "b"); }), HasSubstr("different sizes"));
  const std::string text = waiting.get();
  EXPECT_THAT(text, HasSubstr("missing ranks: 1; joined: 0; refused: rank 1 ("));
  EXPECT_THAT(text, HasSubstr("came with world size 3"));
}

TEST(RollCall, AsksTheStoreOnceForAllMissingRanks) {
  WatchedStore store(make_memory_store());
  const std::string text = refusal([&] { join(store, 0, 500, "a", base::Deadline::after(100ms)); });
  EXPECT_THAT(text, HasSubstr("missing ranks: 1, 2, 3, "));
  EXPECT_THAT(text, HasSubstr("498, 499; joined: 0"));
  EXPECT_EQ(store.calls_of("check"), 0);
  EXPECT_LT(store.calls(), 20);
}

TEST(RollCall, ThoseWhoWaitForTheListNameTheMissingRanks) {
  WatchedStore store(make_memory_store());
  const std::string text = refusal([&] { join(store, 1, 500, "b", base::Deadline::after(100ms)); });
  EXPECT_THAT(text, HasSubstr("missing ranks: 0, 2, 3, "));
  EXPECT_THAT(text, HasSubstr("498, 499; joined: 1"));
  EXPECT_LT(store.calls(), 20);
}

TEST(RollCall, ARank0ThatMakesNoListIsMissing) {
  const auto store = make_memory_store();
  store->set_string("parley/1/card/0", "of a process that is stopped");
  EXPECT_THAT(refusal([&] { join(*store, 1, 2, "b", base::Deadline::after(100ms)); }),
              HasSubstr("missing ranks: 0; joined: 1"));
}

// Its host is stopped: an answer to the wait never comes, and nothing else is asked.
class SilentStore : public ::testing::TestWithParam<int> {};

TEST_P(SilentStore, IsNamedAtOnce) {
  WatchedStore store(make_memory_store());
  store.fall_silent_at("wait");
  const std::string text = refusal([&] { join(store, GetParam(), 3, "a", base::Deadline::after(100ms)); });
  EXPECT_THAT(text, HasSubstr(" of 3: the store gives no answer (no answer from"));
  EXPECT_THAT(text, Not(HasSubstr("missing ranks")));
  EXPECT_EQ(store.calls_of("wait"), 1);
  EXPECT_EQ(store.calls_after_silence(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ranks, SilentStore, ::testing::Values(0, 1));

// The text of rank 0's claim with one field changed: as of a process that is dead for all we know.
std::string changed_claim(Store& store, std::size_t field, const std::string& value) {
  std::istringstream words(store.get_string("parley/rank/0"));
  std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
  fields.at(4) = "1";  // when it began: no process of ours
  fields.at(field) = value;
  std::string text;
  for (const auto& word : fields) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(RankClaim, OfADeadProcessIsFreeUnlessItMayLiveInAnotherNamespace) {
  const auto store = make_memory_store();
  const auto never_over = [](std::int64_t) { return false; };
  const auto claim = [&] { return claim_rank(*store, 0, 2, never_over, soon()); };
  EXPECT_FALSE(claim().again);
  store->set_string("parley/rank/0", changed_claim(*store, 3, "999999999"));
  EXPECT_TRUE(claim().again);
  store->set_string("parley/rank/0", changed_claim(*store, 6, "1"));  // its PID namespace
  EXPECT_THAT(refusal(claim), HasSubstr("rank 0 is taken: by another process ("));
}

}  // namespace
}  // namespace parley::wireup
