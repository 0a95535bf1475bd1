#include <atomic>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/store/store_fixture.h"

namespace parley::test {
namespace {

using namespace std::string_literals;

TEST(TcpStore, AnotherSecretIsRefusedAtOnce) {
  const TcpStoreServer server(options_for(0));
  auto options = options_for(server.port());
  options.secret = "not the secret of the store tests";
  options.timeout = 1h;  // were the refusal not final, this test would not end
  try {
    connect_tcp_store(options);
    FAIL() << "it was let in";
  } catch (const StoreTimeoutError& error) {
    FAIL() << error.what();
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("127.0.0.1:" + std::to_string(server.port())),
              std::string::npos);
    EXPECT_NE(std::string(error.what()).find("secret"), std::string::npos) << error.what();
    EXPECT_EQ(error.details().operation, "store connect");
  }
  EXPECT_EQ(server.client_count(), 0U);
}

TEST(TcpStore, WithoutAServerConnectingTimesOut) {
  const auto port = TcpStoreServer(options_for(0)).port();
  auto options = options_for(port);
  options.timeout = 100ms;
  const auto error = thrown<StoreTimeoutError>([&] { connect_tcp_store(options); });
  ASSERT_TRUE(error);
  const std::string what = error->what();
  EXPECT_EQ(what.find("store connect: "), 0U) << what;
  EXPECT_NE(what.find("127.0.0.1:" + std::to_string(port)), std::string::npos) << what;
  EXPECT_GE(error->details().elapsed, 100ms);
}

TEST(TcpStore, AClientWaitsForTheServerToAppear) {
  const auto port = TcpStoreServer(options_for(0)).port();
  std::shared_ptr<Store> client;
  std::thread early([&] { client = connect_tcp_store(options_for(port)); });
  const TcpStoreServer server(options_for(port));
  early.join();
  client->set_string("key", "value");
  EXPECT_EQ(client->get_string("key"), "value");
  EXPECT_EQ(client->timeout(), patience);
}

TEST(TcpStore, APortInUseIsNamed) {
  const TcpStoreServer server(options_for(0));
  const auto error = thrown<StoreError>([&] { TcpStoreServer second(options_for(server.port())); });
  ASSERT_TRUE(error);
  const std::string what = error->what();
  EXPECT_NE(what.find("127.0.0.1:" + std::to_string(server.port())), std::string::npos) << what;
  EXPECT_NE(what.find("in use"), std::string::npos) << what;
  EXPECT_EQ(error->details().operation, "store listen");
}

TEST(TcpStore, ADestroyedServerIsLostToEveryWaiter) {
  auto server = std::make_unique<TcpStoreServer>(options_for(0));
  const auto name = "127.0.0.1:" + std::to_string(server->port());
  std::vector<std::shared_ptr<Store>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(connect_tcp_store(options_for(server->port())));
  std::atomic<int> lost{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 12; ++i)
    waiters.emplace_back([&, i] {
      Store& store = *clients[static_cast<std::size_t>(i % 4)];
      store.set_string("waits/" + std::to_string(i), "");
      const auto error = thrown<StoreLostError>([&] { store.get("never", 1h); });
      if (!error) return;
      EXPECT_NE(std::string(error->what()).find(name), std::string::npos) << error->what();
      EXPECT_EQ(error->details().host, name);
      EXPECT_EQ(error->details().keys, std::vector{"never"s});
      ++lost;
    });
  for (int i = 0; i < 12; ++i) clients[0]->wait(std::vector{"waits/" + std::to_string(i)});
  server.reset();
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(lost, 12);
  for (const auto& client : clients) EXPECT_THROW(client->set_string("key", "value"), StoreLostError);
}

TEST(TcpStore, ALostServerIsLostForIdleClientsToo) {
  auto server = std::make_unique<TcpStoreServer>(options_for(0));
  const auto client = connect_tcp_store(options_for(server->port()));
  client->set_string("key", "value");
  server.reset();
  EXPECT_THROW(client->get("key"), StoreLostError);
  EXPECT_THROW(client->get("key"), StoreLostError);
}

TEST(TcpStore, AHundredClientsAtOnce) {
  constexpr int count = 100;
  const TcpStoreServer server(options_for(0));
  std::barrier together(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      together.arrive_and_wait();
      const auto client = connect_tcp_store(options_for(server.port()));
      client->set_string("card/" + std::to_string(i), std::to_string(i));
      EXPECT_EQ(client->get_string("card/" + std::to_string((i + 1) % count)),
                std::to_string((i + 1) % count));
      client->add("joined", 1);
      together.arrive_and_wait();
      EXPECT_EQ(client->add("joined", 0), count);
      EXPECT_EQ(server.client_count(), static_cast<std::size_t>(count));
      together.arrive_and_wait();
    });
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(eventually([&] { return server.client_count() == 0; }));
}

TEST(TcpStore, NewcomersAreServedAndNotWaitedFor) {
  TcpStoreServer server(options_for(0));
  auto member = connect_tcp_store(options_for(server.port()));
  member->set_string("member", "here");  // answered: now the server surely has it among its clients
  server.disregard_newcomers();
  auto newcomer = connect_tcp_store(options_for(server.port()));
  newcomer->set_string("key", "value");
  EXPECT_EQ(member->get_string("key"), "value");
  EXPECT_EQ(server.client_count(), 2U);
  EXPECT_FALSE(server.wait_for_no_clients(1ms));
  member.reset();
  EXPECT_TRUE(server.wait_for_no_clients(1h));
  EXPECT_EQ(newcomer->get_string("key"), "value");
  newcomer.reset();
  EXPECT_TRUE(eventually([&] { return server.client_count() == 0; }));
}

TEST(TcpStore, ServersComeAndGoWithClientsInTheMiddleOfThings) {
  for (int round = 0; round < 20; ++round) {
    auto server = std::make_unique<TcpStoreServer>(options_for(0));
    const auto client = connect_tcp_store(options_for(server->port()));
    std::vector<std::thread> users;
    for (int i = 0; i < 3; ++i)
      users.emplace_back([&] {
        try {
          for (;;) client->add("n", 1);
        } catch (const StoreLostError&) {
        }
      });
    client->add("n", 1);
    server.reset();
    for (auto& user : users) user.join();
  }
}

}  // namespace
}  // namespace parley::test
