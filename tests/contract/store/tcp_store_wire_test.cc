#include <string>

#include "tests/contract/store/store_fixture.h"
#include "tests/unit/socket/byte_proxy.h"

// A store whose every exchange is cut into single bytes, with TLS and without.
namespace parley::test {
namespace {

using socket::testing::ByteProxy;

void exchange_everything(bool tls) {
  const TcpStoreServer server(options_for(0, tls));
  const ByteProxy proxy(server.port());
  const auto store = connect_tcp_store(options_for(proxy.port(), tls));
  const std::string value(10'000, 'v');
  store->set_string("key", value);
  EXPECT_EQ(store->get_string("key"), value);
  EXPECT_EQ(store->add("count", 5), 5);
  EXPECT_EQ(text(store->compare_set("key", bytes(value), bytes("new"))), "new");
  const std::vector<std::string> keys{"key", "count"};
  EXPECT_TRUE(store->check(keys));
  EXPECT_EQ(store->multi_get(keys).size(), 2u);
  store->multi_set(keys, std::vector<Store::Value>{bytes("a"), bytes("b")});
  const auto error = thrown<StoreTimeoutError>([&] { store->get("absent", 10ms); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("absent"), std::string::npos);
  EXPECT_TRUE(store->remove("key"));
  EXPECT_GT(proxy.bytes_passed(), 2 * value.size());
}

TEST(TcpStoreWire, SingleBytesWorkForEveryExchange) {
  exchange_everything(false);
}

TEST(TcpStoreWire, SingleBytesWorkForEveryEncryptedExchange) {
  if (!socket::tls_available()) {
    EXPECT_THROW(exchange_everything(true), Error);
  } else {
    exchange_everything(true);
  }
}

TEST(TcpStoreWire, TlsOnOneSideOnlyIsRefusedByName) {
  if (!socket::tls_available()) return;  // then it is refused before anything is sent
  for (const bool at_server : {true, false}) {
    const TcpStoreServer server(options_for(0, at_server));
    const auto error = thrown<StoreError>([&] { connect_tcp_store(options_for(server.port(), !at_server)); });
    ASSERT_TRUE(error);
    const std::string why = std::string("TLS is ") + (at_server ? "off" : "on") + " at the dialler and " +
                            (at_server ? "on" : "off") + " at the listener";
    EXPECT_NE(std::string(error->what()).find(why), std::string::npos) << error->what();
    EXPECT_NE(std::string(error->what()).find("PARLEY_TLS"), std::string::npos) << error->what();
    EXPECT_EQ(connect_tcp_store(options_for(server.port(), at_server))->add("key", 1), 1);
  }
}

// PARLEY_TLS is what options that say nothing stand for.
TEST(TcpStoreWire, TheVariableSwitchesTlsOn) {
  if (!socket::tls_available()) return;
  setenv("PARLEY_TLS", "1", 1);
  auto options = options_for(0);
  options.tls.reset();
  const TcpStoreServer server(options);
  options.port = server.port();
  EXPECT_EQ(connect_tcp_store(options)->add("key", 1), 1);
  setenv("PARLEY_TLS", "yes", 1);
  EXPECT_THROW(connect_tcp_store(options), UsageError);
  unsetenv("PARLEY_TLS");
  EXPECT_THROW(connect_tcp_store(options), StoreError);
}

}  // namespace
}  // namespace parley::test
