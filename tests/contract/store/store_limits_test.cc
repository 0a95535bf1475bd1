#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/store/store_fixture.h"
#include "tests/sanitizer.h"

namespace parley::test {
namespace {

using namespace std::string_literals;

using StoreLimitsTest = StoreTest;
INSTANTIATE_TEST_SUITE_P(Stores, StoreLimitsTest, testing::ValuesIn(limited_kinds()), kind_name);
// A file store has a table, and so a limit of waits, in each process.
using StoreWaitLimitsTest = StoreTest;
INSTANTIATE_TEST_SUITE_P(Stores, StoreWaitLimitsTest,
                         testing::ValuesIn(with_tls({StoreKind::memory, StoreKind::tcp})), kind_name);

TEST_P(StoreLimitsTest, AKeyThatIsTooLongIsRefused) {
  const std::string key(StoreLimits().key_bytes + 1, 'k');
  const auto error = thrown<StoreError>([&] { store().set_string(key, "value"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(),
            "store set: the key has 4097 bytes, the limit is 4096, key: " + std::string(64, 'k') + "...");
  EXPECT_THROW(store().get(key), StoreError);
  EXPECT_THROW(store().add(key, 1), StoreError);
  EXPECT_THROW(store().compare_set(key, {}, {}), StoreError);
  EXPECT_THROW(store().check(std::vector{key}), StoreError);
  EXPECT_THROW(store().wait(std::vector{key}), StoreError);
  EXPECT_THROW(store().remove(key), StoreError);
}

TEST_P(StoreLimitsTest, AValueThatIsTooLongIsRefusedAndNothingChanges) {
  const std::string value(StoreLimits().value_bytes + 1, 'v');
  store().set_string("key", "old");
  const auto error = thrown<StoreError>([&] { store().set_string("key", value); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(), "store set: the value has 1048577 bytes, the limit is 1048576, key: key"s);
  EXPECT_THROW(store().compare_set("key", bytes("old"), bytes(value)), StoreError);
  EXPECT_THROW(store().multi_set(std::vector{"other"s, "key"s}, std::vector{bytes("1"), bytes(value)}),
               StoreError);
  EXPECT_EQ(store().get_string("key"), "old");
  EXPECT_FALSE(store().check(std::vector{"other"s}));
}

TEST_P(StoreLimitsTest, ARequestThatIsTooLongIsRefused) {
  const std::vector<std::string> keys(17, "key");
  const std::vector<Store::Value> values(17, Store::Value(StoreLimits().value_bytes));
  EXPECT_THROW(store().multi_set(keys, values), StoreError);
  EXPECT_FALSE(store().check(std::vector{"key"s}));
}

TEST_P(StoreLimitsTest, AReplyThatIsTooLongIsRefused) {
  store().set("key", Store::Value(StoreLimits().value_bytes));
  const auto error = thrown<StoreError>([&] { store().multi_get(std::vector<std::string>(17, "key")); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("the values have 17825860 bytes together"), std::string::npos)
      << error->what();
  EXPECT_EQ(store().multi_get(std::vector<std::string>(15, "key")).size(), 15U);
}

TEST_P(StoreLimitsTest, AFullStoreTakesNoMoreBytes) {
  rendezvous::TableLimits limits;
  limits.total_bytes = 100;
  make(limits);
  store().set_string("key", std::string(90, 'v'));
  EXPECT_THROW(store().set_string("k2", "123456"), StoreError);
  EXPECT_THROW(store().set_string("key", std::string(98, 'v')), StoreError);
  EXPECT_THROW(store().multi_set(std::vector{"a"s, "b"s, "c"s}, std::vector(3, bytes("12"))), StoreError);
  EXPECT_FALSE(store().check(std::vector{"a"s}));
  EXPECT_EQ(store().get("key").size(), 90U);
  store().set_string("key", "short");  // room again
  store().set_string("k2", "123456");
  store().remove("key");
  EXPECT_THROW(store().append("k2", bytes(std::string(93, 'v'))), StoreError);
  store().set_string("k3", std::string(88, 'v'));
  EXPECT_THROW(store().append("k2", bytes("xyz")), StoreError);
  EXPECT_EQ(store().append("k2", bytes("xy")), 8U);
  EXPECT_THROW(store().append("k4", {}), StoreError);
}

// Even if all are the same, and there.
TEST_P(StoreLimitsTest, ARequestNamesNoMoreKeysThanAStoreHolds) {
  rendezvous::TableLimits limits;
  limits.keys = 2;
  make(limits);
  store().set_string("", "there");
  const std::vector<std::string> keys(3);
  for (const auto& ask : std::vector<std::function<void()>>{
           [&] { store().wait(keys); }, [&] { store().multi_get(keys); }, [&] { store().check(keys); }}) {
    const auto error = thrown<StoreError>(ask);
    ASSERT_TRUE(error);
    EXPECT_NE(std::string(error->what()).find("the request has 3 keys, the limit is 2"), std::string::npos)
        << error->what();
  }
  EXPECT_EQ(store().multi_get(std::vector<std::string>(2)).size(), 2U);
}

TEST_P(StoreLimitsTest, AFullStoreTakesNoMoreKeys) {
  rendezvous::TableLimits limits;
  limits.keys = 2;
  make(limits);
  store().multi_set(std::vector{"a"s, "b"s}, std::vector(2, bytes("1")));
  const auto error = thrown<StoreError>([&] { store().set_string("c", "1"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(), "store set: the store is full: 2 keys are its limit, key: c"s);
  store().set_string("a", "2");
  store().remove("a");
  store().set_string("c", "1");
}

TEST_P(StoreWaitLimitsTest, TooManyWaitsAreRefused) {
  rendezvous::TableLimits limits;
  limits.waits = 1;
  make(limits);
  const auto other = client();
  std::thread waiter([&] {
    // Until our own probes below have left room for it.
    EXPECT_TRUE(eventually([&] {
      try {
        other->wait(std::vector{"key"s});
        return true;
      } catch (const StoreError&) {
        return false;
      }
    }));
  });
  // Once the other one waits there is no room for a second wait; before that ours ends at once.
  EXPECT_TRUE(eventually([&] {
    try {
      store().get("absent", 0s);
    } catch (const StoreTimeoutError&) {
      return false;
    } catch (const StoreError& error) {
      EXPECT_EQ(error.what(),
                "store get: the store is full: 1 operations that wait are its limit, key: absent"s);
      return true;
    }
    return false;
  }));
  store().set_string("key", "");
  EXPECT_TRUE(store().get("key", 0s).empty());  // needs no wait
  waiter.join();
  EXPECT_THROW(store().get("absent", 0s), StoreTimeoutError);
}

TEST_P(StoreLimitsTest, KeysWaitedForAreLimitedTogether) {
  rendezvous::TableLimits limits;
  limits.wait_bytes = 1000;
  make(limits);
  EXPECT_THROW(store().wait(std::vector<std::string>(40, "absent"), patience), StoreError);
  EXPECT_THROW(store().wait(std::vector<std::string>(4, "absent"), 0s), StoreTimeoutError);
}

TEST(StoreLimitsOption, AreCheckedWhenAStoreIsMade) {
  const auto error =
      thrown<UsageError>([] { make_memory_store({.value_bytes = (std::size_t{64} << 20) + 1}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(), "StoreLimits::value_bytes must be 1 to 67108864, not 67108865"s);
  EXPECT_THROW(make_memory_store({.value_bytes = 0}), UsageError);
  EXPECT_THROW(make_memory_store({.key_bytes = 4097}), UsageError);
  EXPECT_THROW(make_memory_store({.key_bytes = 0}), UsageError);
  auto options = options_for(0);
  options.limits.key_bytes = 5000;
  EXPECT_THROW(TcpStoreServer{options}, UsageError);
  EXPECT_THROW(connect_tcp_store(options), UsageError);
  EXPECT_THROW(make_file_store("/nowhere/at/all", {.key_bytes = 0}), UsageError);
}

// 64 MiB there and back, twice the value in one compare_set, through every kind of store.
TEST(StoreLimitsOption, AValueMayHave64MiB) {
  auto options = options_for(0);
  options.limits.value_bytes = std::size_t{sanitizer::watches_threads ? 20 : 64} << 20;
  TcpStoreServer server(options);
  options.port = server.port();
  const TemporaryFolder folder;
  const Store::Value value(options.limits.value_bytes, std::byte{7});
  const Store::Value other(options.limits.value_bytes, std::byte{8});
  for (const auto& store : {connect_tcp_store(options), make_memory_store(options.limits),
                            make_file_store(folder.path() + "/store", options.limits)}) {
    store->set("key", value);
    EXPECT_TRUE(store->compare_set("key", value, other) == other);
    EXPECT_THROW(store->append("key", bytes("x")), StoreError);
    EXPECT_TRUE(store->get("key") == other);
  }
  // A client with the usual limits reads it, too; it only sends no such value itself.
  const auto usual = connect_tcp_store(options_for(server.port()));
  EXPECT_TRUE(usual->get("key") == other);
  EXPECT_THROW(usual->set("key", value), StoreError);
}

}  // namespace
}  // namespace parley::test
