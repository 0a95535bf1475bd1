#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/contract/store/store_fixture.h"

namespace parley::test {
namespace {

using namespace std::string_literals;

using StoreOperations = StoreTest;
INSTANTIATE_TEST_SUITE_P(Stores, StoreOperations, testing::ValuesIn(all_kinds()), kind_name);

TEST_P(StoreOperations, GetReturnsWhatWasSet) {
  store().set("key", bytes("value"));
  EXPECT_EQ(text(store().get("key")), "value");
  EXPECT_EQ(text(client()->get("key")), "value");
}

TEST_P(StoreOperations, SetOverwrites) {
  store().set_string("key", "a long first value");
  store().set_string("key", "short");
  EXPECT_EQ(store().get_string("key"), "short");
}

TEST_P(StoreOperations, AnEmptyValueIsAValue) {
  store().set("key", {});
  EXPECT_TRUE(store().get("key").empty());
  EXPECT_TRUE(store().check(std::vector{"key"s}));
}

TEST_P(StoreOperations, KeysAndValuesAreBytes) {
  const std::string key("a\0b\xff\n", 5);
  const std::string value("\0\1\xfe", 3);
  store().set_string(key, value);
  store().set_string("", "the empty key");
  EXPECT_EQ(client()->get_string(key), value);
  EXPECT_EQ(client()->get_string(""), "the empty key");
  EXPECT_FALSE(store().check(std::vector{"a"s}));
}

TEST_P(StoreOperations, LargestKeyAndValuePass) {
  const std::string key(longest_key(), 'k');
  const std::string value(StoreLimits().value_bytes, 'v');
  store().set_string(key, value);
  EXPECT_EQ(store().get_string(key), value);
}

TEST_P(StoreOperations, AddCountsFromZeroAndKeepsText) {
  EXPECT_EQ(store().add("n", 5), 5);
  EXPECT_EQ(client()->add("n", -12), -7);
  EXPECT_EQ(store().get_string("n"), "-7");
  store().set_string("n", "40");
  EXPECT_EQ(store().add("n", 2), 42);
}

TEST_P(StoreOperations, AddToSomethingElseFailsAndKeepsIt) {
  for (const auto& other : {"abc"s, ""s, "12 "s, "0x10"s, "1.5"s, "99999999999999999999"s}) {
    store().set_string("n", other);
    const auto error = thrown<StoreError>([&] { store().add("n", 1); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->what(), "store add: the value is not a decimal number, key: " + named("n"));
    EXPECT_EQ(error->details().operation, "store add");
    EXPECT_EQ(error->details().keys, std::vector{named("n")});
    EXPECT_EQ(store().get_string("n"), other);
  }
}

TEST_P(StoreOperations, AddDoesNotOverflow) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(store().add("n", largest), largest);
  EXPECT_THROW(store().add("n", 1), StoreError);
  EXPECT_EQ(store().get_string("n"), std::to_string(largest));
  EXPECT_EQ(store().add("m", smallest), smallest);
  EXPECT_THROW(store().add("m", -1), StoreError);
}

TEST_P(StoreOperations, CompareSetExchangesOnAMatch) {
  store().set_string("key", "old");
  EXPECT_EQ(text(store().compare_set("key", bytes("old"), bytes("new"))), "new");
  EXPECT_EQ(text(store().compare_set("key", bytes("old"), bytes("newer"))), "new");
  EXPECT_EQ(store().get_string("key"), "new");
  EXPECT_TRUE(store().compare_set("key", bytes("new"), {}).empty());
  EXPECT_TRUE(store().check(std::vector{"key"s}));
}

TEST_P(StoreOperations, CompareSetTakesAnAbsentKeyForTheEmptyValue) {
  EXPECT_TRUE(store().compare_set("key", bytes("something"), bytes("new")).empty());
  EXPECT_FALSE(store().check(std::vector{"key"s}));
  EXPECT_TRUE(store().compare_set("key", {}, {}).empty());
  EXPECT_FALSE(store().check(std::vector{"key"s})) << "it was only looked at";
  EXPECT_EQ(text(store().compare_set("key", {}, bytes("new"))), "new");
  EXPECT_EQ(store().get_string("key"), "new");
}

TEST_P(StoreOperations, AppendAddsToTheEnd) {
  EXPECT_EQ(store().append("key", bytes("one")), 3U);
  EXPECT_EQ(client()->append("key", bytes(", two")), 8U);
  EXPECT_EQ(store().append("key", {}), 8U);
  EXPECT_EQ(store().get_string("key"), "one, two");
  EXPECT_EQ(store().append("empty", {}), 0U);
  EXPECT_TRUE(store().check(std::vector{"empty"s}));
}

TEST_P(StoreOperations, AppendStopsAtTheLargestValue) {
  const std::string half(StoreLimits().value_bytes / 2, 'h');
  store().append("key", bytes(half));
  store().append("key", bytes(half));
  const auto error = thrown<StoreError>([&] { store().append("key", bytes("x")); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(),
            "store append: the value would have 1048577 bytes, the limit is 1048576, key: " + named("key"));
  EXPECT_EQ(store().get("key").size(), StoreLimits().value_bytes);
}

TEST_P(StoreOperations, KeysAreCounted) {
  EXPECT_EQ(store().key_count(), 0U);
  store().multi_set(std::vector{"a/1"s, "a/2"s, "b"s, "a"s}, std::vector(4, bytes("x")));
  store().set_string("a/1", "again");
  store().add("n", 1);
  EXPECT_EQ(client()->key_count(), 5U);
  EXPECT_EQ(store().key_count("a/"), 2U);
  EXPECT_EQ(store().key_count("a"), 3U);
  EXPECT_EQ(store().key_count("c"), 0U);
  store().remove("a/2");
  EXPECT_EQ(store().key_count("a/"), 1U);
  EXPECT_EQ(store().key_count(), 4U);
}

TEST_P(StoreOperations, CheckWantsAllKeys) {
  store().set_string("a", "1");
  store().set_string("b", "2");
  EXPECT_TRUE(store().check(std::vector{"a"s, "b"s, "a"s}));
  EXPECT_FALSE(store().check(std::vector{"a"s, "c"s}));
  EXPECT_TRUE(store().check({}));
}

TEST_P(StoreOperations, RemoveTellsWhetherTheKeyWasThere) {
  store().set_string("key", "value");
  EXPECT_TRUE(client()->remove("key"));
  EXPECT_FALSE(store().remove("key"));
  EXPECT_FALSE(store().check(std::vector{"key"s}));
  store().set_string("key", "again");
  EXPECT_EQ(store().get_string("key"), "again");
}

TEST_P(StoreOperations, MultiGetKeepsTheOrderOfItsKeys) {
  store().multi_set(std::vector{"a"s, "b"s, "c"s}, std::vector{bytes("1"), bytes(""), bytes("3")});
  const auto values = store().multi_get(std::vector{"c"s, "a"s, "b"s, "c"s});
  EXPECT_EQ(values, (std::vector{bytes("3"), bytes("1"), bytes(""), bytes("3")}));
  EXPECT_TRUE(store().multi_get({}).empty());
}

TEST_P(StoreOperations, MultiSetOfOneKeyTwiceKeepsTheLast) {
  store().multi_set(std::vector{"a"s, "a"s}, std::vector{bytes("first"), bytes("last")});
  EXPECT_EQ(store().get_string("a"), "last");
  store().multi_set({}, {});
}

TEST_P(StoreOperations, MultiSetNeedsAsManyValuesAsKeys) {
  EXPECT_THROW(store().multi_set(std::vector{"a"s, "b"s}, std::vector(1, bytes("1"))), UsageError);
  EXPECT_FALSE(store().check(std::vector{"a"s}));
}

TEST_P(StoreOperations, TheTimeoutIsFiveMinutesOrWhatWasSet) {
  EXPECT_EQ(rendezvous::make_memory_store({})->timeout(), 5min);
  store().set_timeout(7s);
  EXPECT_EQ(store().timeout(), 7s);
  store().set_timeout(Store::default_timeout);
  EXPECT_EQ(store().timeout(), 5min);
  store().set_timeout(-3s);
  EXPECT_EQ(store().timeout(), 0s);
}

}  // namespace
}  // namespace parley::test
