#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/store/store_fixture.h"

namespace parley::test {
namespace {

using namespace std::string_literals;

using StoreWaits = StoreTest;
INSTANTIATE_TEST_SUITE_P(Stores, StoreWaits, testing::ValuesIn(all_kinds()), kind_name);

TEST_P(StoreWaits, GetIsWokenByAnotherClient) {
  const auto other = client();
  for (int round = 0; round < 50; ++round) {
    const auto number = std::to_string(round);
    std::thread setter([&] {
      other->wait(std::vector{"asks/" + number});
      other->set_string("key/" + number, number);
    });
    store().set_string("asks/" + number, "");
    EXPECT_EQ(store().get_string("key/" + number), number);
    setter.join();
  }
}

TEST_P(StoreWaits, EveryWriteWakes) {
  const auto other = client();
  std::thread waiter([&] {
    other->wait(std::vector{"add"s, "compare_set"s, "multi_set/1"s, "multi_set/2"s, "append"s});
  });
  store().add("add", 1);
  store().compare_set("compare_set", {}, bytes("x"));
  store().multi_set(std::vector{"multi_set/1"s, "multi_set/2"s}, std::vector{bytes("1"), bytes("2")});
  store().append("append", bytes("x"));
  waiter.join();
}

TEST_P(StoreWaits, MultiGetWaitsForTheLastKey) {
  const auto other = client();
  std::vector<Store::Value> values;
  std::thread waiter([&] { values = other->multi_get(std::vector{"a"s, "b"s, "c"s}); });
  store().set_string("c", "3");
  store().set_string("a", "1");
  store().set_string("b", "2");
  waiter.join();
  EXPECT_EQ(values, (std::vector{bytes("1"), bytes("2"), bytes("3")}));
}

TEST_P(StoreWaits, TheErrorNamesTheMissingKeys) {
  store().multi_set(std::vector{"card/0"s, "card/1"s}, std::vector{bytes("a"), bytes("b")});
  const auto begin = std::chrono::steady_clock::now();
  const auto error = thrown<StoreTimeoutError>([&] {
    store().wait(std::vector{"card/0"s, "card/1"s, "card/2"s, "card/3"s}, 300ms);
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(), "store wait timed out after 300 ms, missing keys: " + named("card/2") + ", " +
                               named("card/3") + " (2 of 4 present)");
  EXPECT_EQ(error->details().operation, "store wait");
  EXPECT_EQ(error->details().keys, (std::vector{named("card/2"), named("card/3")}));
  EXPECT_GE(error->details().elapsed, 300ms);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 300ms);
}

TEST_P(StoreWaits, TheErrorShowsOddKeysAndShortensLongLists) {
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.push_back("k" + std::to_string(i));
  keys[0] = "line\n\xff";
  const auto error = thrown<StoreTimeoutError>([&] { store().multi_get(keys, 0s); });
  ASSERT_TRUE(error);
  std::string shown = named("line\\x0a\\xff");
  for (int i = 1; i < 8; ++i) shown += ", " + named(keys[static_cast<std::size_t>(i)]);
  EXPECT_EQ(error->what(), "store multi_get timed out after 0 ms, missing keys: " + shown +
                               " and 12 more (0 of 20 present)");
  for (auto& key : keys) key = named(key);
  EXPECT_EQ(error->details().keys, keys);
}

TEST_P(StoreWaits, ATimeoutOfZeroAsksOnce) {
  EXPECT_THROW(store().get("key", 0s), StoreTimeoutError);
  store().set_string("key", "value", 0s);
  EXPECT_EQ(store().get_string("key", 0s), "value");
  EXPECT_NO_THROW(store().wait(std::vector{"key"s}, 0s));
}

TEST_P(StoreWaits, TheDefaultTimeoutIsTheStores) {
  store().set_timeout(20ms);
  const auto error = thrown<StoreTimeoutError>([&] { store().get("key"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(),
            "store get timed out after 20 ms, missing keys: " + named("key") + " (0 of 1 present)");
}

TEST_P(StoreWaits, ARemovedKeyIsMissingAgain) {
  store().set_string("a", "1");
  const auto other = client();
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    other->set_string("waiting", "");
    other->wait(std::vector{"a"s, "b"s, "c"s});
    done = true;
  });
  store().wait(std::vector{"waiting"s});
  store().remove("a");
  store().set_string("b", "2");
  store().set_string("c", "3");
  // Whenever the wait began, it sees `a` and `c` together only after this.
  EXPECT_FALSE(done);
  store().set_string("a", "1");
  waiter.join();
}

TEST_P(StoreWaits, AWaitingThreadHoldsUpNobodyElse) {
  std::thread waiter([&] { EXPECT_EQ(store().get_string("last"), "end"); });
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i)
    workers.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const auto key = std::to_string(i) + "/" + std::to_string(round);
        store().set_string(key, key);
        EXPECT_EQ(store().get_string(key), key);
      }
    });
  for (auto& worker : workers) worker.join();
  store().set_string("last", "end");
  waiter.join();
}

TEST_P(StoreWaits, ManyThreadsOfOneClientWaitAtOnce) {
  constexpr int count = 16;
  std::vector<std::thread> waiters;
  for (int i = 0; i < count; ++i)
    waiters.emplace_back(
        [&, i] { EXPECT_EQ(store().get_string("key/" + std::to_string(i)), std::to_string(i)); });
  // Backwards, so that the one which reads for all is not always the first to leave.
  for (int i = count; i-- > 0;) store().set_string("key/" + std::to_string(i), std::to_string(i));
  for (auto& waiter : waiters) waiter.join();
}

TEST_P(StoreWaits, ThreadsThatGiveUpLeaveTheOthersWaiting) {
  std::thread patient([&] { EXPECT_EQ(store().get_string("late"), "at last"); });
  std::vector<std::thread> hasty;
  for (int i = 0; i < 8; ++i)
    hasty.emplace_back(
        [&, i] { EXPECT_THROW(store().get("never", std::chrono::milliseconds(10 * i)), StoreTimeoutError); });
  for (auto& thread : hasty) thread.join();
  store().set_string("late", "at last");
  patient.join();
}

TEST_P(StoreWaits, AddsOfManyThreadsSumUp) {
  constexpr int threads = 16;
  constexpr int rounds = 50;
  std::vector<std::thread> adders;
  for (int i = 0; i < threads; ++i)
    adders.emplace_back([&, own = i % 2 == 0 ? client() : nullptr] {
      Store& mine = own ? *own : store();
      for (int round = 0; round < rounds; ++round) mine.add("sum", 1);
    });
  for (auto& adder : adders) adder.join();
  EXPECT_EQ(store().add("sum", 0), threads * rounds);
}

TEST_P(StoreWaits, MultiSetIsSeenWholeOrNotAtAll) {
  const std::vector keys{"a"s, "b"s, "c"s};
  store().multi_set(keys, std::vector(3, bytes("0")));
  const auto other = client();
  std::thread writer([&] {
    for (int round = 1; round <= 200; ++round)
      other->multi_set(keys, std::vector(3, bytes(std::to_string(round))));
  });
  for (int round = 0; round < 200; ++round) {
    const auto values = store().multi_get(keys);
    EXPECT_EQ(values[0], values[1]);
    EXPECT_EQ(values[1], values[2]);
  }
  writer.join();
}

TEST_P(StoreWaits, CompareSetElectsExactlyOne) {
  std::atomic<int> winners{0};
  std::vector<std::thread> candidates;
  for (int i = 0; i < 8; ++i)
    candidates.emplace_back([&, i] {
      const auto name = std::to_string(i);
      if (text(store().compare_set("leader", {}, bytes(name))) == name) ++winners;
    });
  for (auto& candidate : candidates) candidate.join();
  EXPECT_EQ(winners, 1);
}

}  // namespace
}  // namespace parley::test
