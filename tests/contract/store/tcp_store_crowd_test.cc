// A thousand clients of one store.

#include <sys/resource.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rendezvous/store_codec.h"
#include "tests/contract/store/raw_client.h"
#include "tests/contract/store/store_fixture.h"

namespace parley::test {
namespace {

using rendezvous::Command;
using rendezvous::Request;

constexpr std::size_t crowd = 1000;

void allow_many_descriptors() {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_GT(limit.rlim_cur, 2 * crowd + 100) << "both ends of each connection are here";
}

std::vector<RawClient> connect_all(std::uint16_t port) {
  std::mutex mutex;
  std::vector<RawClient> clients;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (std::size_t n = 0; n < crowd / 8; ++n) {
        RawClient client(port);
        const std::scoped_lock lock(mutex);
        clients.push_back(std::move(client));
      }
    });
  for (auto& thread : threads) thread.join();
  return clients;
}

TEST(TcpStoreCrowd, AThousandClientsCountAndWaitTogether) {
  allow_many_descriptors();
  const rendezvous::StoreServer server(options_for(0), {});
  auto clients = connect_all(server.port());
  ASSERT_EQ(clients.size(), crowd);
  const Request add{.command = Command::add, .keys = {"sum"}, .delta = 1};
  const Request get{.command = Command::get, .keys = {"go"}, .timeout = patience};
  for (auto& client : clients) {
    ASSERT_TRUE(client.send(rendezvous::encode_request(1, add)));
    ASSERT_TRUE(client.send(rendezvous::encode_request(2, get)));
  }
  for (auto& client : clients) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->id, 1U);
  }
  EXPECT_EQ(server.client_count(), crowd);
  const auto honest = connect_tcp_store(options_for(server.port()));
  EXPECT_EQ(honest->get_string("sum"), std::to_string(crowd));
  honest->set_string("go", "now");
  for (auto& client : clients) {
    const auto frame = client.receive();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->id, 2U);
    const auto reply = rendezvous::decode_reply(*frame, get);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->values, std::vector(1, bytes("now")));
  }
  clients.clear();
  EXPECT_TRUE(eventually([&] { return server.client_count() == 1; }));
}

}  // namespace
}  // namespace parley::test
