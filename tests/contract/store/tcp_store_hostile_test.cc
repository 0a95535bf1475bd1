#include <parley/log.h>

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "rendezvous/store_codec.h"
#include "tests/contract/store/raw_client.h"

namespace parley::test {
namespace {

using namespace std::string_literals;
using rendezvous::Command;
using rendezvous::Request;

// A server, a well-behaved client, and the server's log lines.
class TcpStoreHostile : public testing::Test {
 protected:
  void SetUp() override {
    set_log_sink([this](const LogRecord& record) {
      const std::scoped_lock lock(mutex_);
      log_ += std::string(record.message) + '\n';
    });
    serve({});
  }
  void TearDown() override { set_log_sink({}); }

  void serve(const rendezvous::TableLimits& limits) {
    honest_.reset();
    server_ = std::make_unique<rendezvous::StoreServer>(options_for(0), limits);
    honest_ = connect_tcp_store(options_for(server_->port()));
  }
  // That the host drops who sends these bytes, says why, and goes on serving others.
  void expect_dropped(const base::Bytes& data, const std::string& reason) {
    RawClient hostile(server_->port());
    EXPECT_TRUE(hostile.send(data));
    EXPECT_TRUE(hostile.closed_by_host());
    EXPECT_TRUE(eventually([&] { return server_->client_count() == 1; }));
    const std::scoped_lock lock(mutex_);
    EXPECT_NE(log_.find(reason), std::string::npos) << log_;
    log_.clear();
    honest_->set_string("key", "value");
    EXPECT_EQ(honest_->get_string("key"), "value");
  }

  std::unique_ptr<rendezvous::StoreServer> server_;
  std::shared_ptr<Store> honest_;
  std::mutex mutex_;
  std::string log_;
};

base::Bytes header(std::uint32_t body_bytes, std::uint16_t version, std::uint8_t kind,
                   std::uint8_t reserved) {
  base::WireWriter writer;
  writer.put(body_bytes).put(version).put(kind).put(reserved).put(std::uint64_t{1});
  return std::move(writer).bytes();
}

TEST_F(TcpStoreHostile, GarbageClosesOnlyItsOwnConnection) {
  expect_dropped(base::Bytes(64, std::byte{0xa5}), "store protocol version 42405");
  expect_dropped(header(0, rendezvous::protocol_version + 1, 1, 0), "store protocol version 2");
  expect_dropped(header(0, rendezvous::protocol_version, 1, 7), "reserved byte");
  expect_dropped(header(0xffffffff, rendezvous::protocol_version, 1, 0), "a frame of 4294967295 bytes");
}

TEST_F(TcpStoreHostile, MalformedRequestsAreDropped) {
  auto unknown = rendezvous::encode_request(1, {.command = Command::check});
  unknown[6] = std::byte{200};
  expect_dropped(unknown, "command 200 is unknown or malformed");
  expect_dropped(header(0, rendezvous::protocol_version, 1, 0), "command 1 is unknown or malformed");
  // More keys announced than the body can hold.
  auto many_keys = rendezvous::encode_request(1, {.command = Command::check});
  const std::uint32_t count = 0xffffffff;
  std::memcpy(many_keys.data() + rendezvous::frame_header_bytes + 16, &count, sizeof(count));
  expect_dropped(many_keys, "command 5 is unknown or malformed");
  // More keys than a store holds, in few bytes: they would take ten times as much as the request.
  auto empty_keys = rendezvous::encode_request(
      1, {.command = Command::wait, .keys = std::vector<std::string_view>((std::size_t{1} << 20) + 1)});
  expect_dropped(empty_keys, "command 6 is unknown or malformed");
  // A set without a value, a get with two keys, bytes behind the end.
  expect_dropped(rendezvous::encode_request(1, {.command = Command::set, .keys = {"a"}}), "command 1 ");
  expect_dropped(rendezvous::encode_request(1, {.command = Command::get, .keys = {"a", "b"}}), "command 2 ");
  auto longer = rendezvous::encode_request(1, {.command = Command::check});
  longer.push_back(std::byte{0});
  longer[0] = static_cast<std::byte>(static_cast<unsigned>(longer[0]) + 1);
  expect_dropped(longer, "command 5 ");
}

TEST_F(TcpStoreHostile, ARequestMayComeInSingleBytes) {
  RawClient client(server_->port());
  const auto value = bytes("value");
  const auto set =
      rendezvous::encode_request(7, {.command = Command::set, .keys = {"key"}, .values = {value}});
  for (const std::byte& byte : set) ASSERT_TRUE(client.send({&byte, 1}));
  const auto reply = client.receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->id, 7U);
  EXPECT_EQ(reply->kind, 0U);
  EXPECT_EQ(honest_->get_string("key"), "value");
}

TEST_F(TcpStoreHostile, RequestsArePipelinedAndAWaitHoldsUpNone) {
  RawClient client(server_->port());
  const Request get{.command = Command::get, .keys = {"key"}, .timeout = patience};
  const auto value = bytes("value");
  const Request set{.command = Command::set, .keys = {"key"}, .values = {value}};
  auto both = rendezvous::encode_request(1, get);
  const auto second = rendezvous::encode_request(2, set);
  both.insert(both.end(), second.begin(), second.end());
  ASSERT_TRUE(client.send(both));
  // The set wakes the get, so the get's reply comes first.
  const auto first_reply = client.receive();
  const auto second_reply = client.receive();
  ASSERT_TRUE(first_reply && second_reply);
  EXPECT_EQ(first_reply->id, 1U);
  EXPECT_EQ(rendezvous::decode_reply(*first_reply, get)->values, std::vector(1, value));
  EXPECT_EQ(second_reply->id, 2U);
}

TEST_F(TcpStoreHostile, AClientThatLeavesTakesItsWaitsAlong) {
  rendezvous::TableLimits limits;
  limits.waits = 3;
  serve(limits);
  for (int round = 0; round < 5; ++round) {
    RawClient client(server_->port());
    for (std::uint64_t id = 1; id <= 3; ++id)
      ASSERT_TRUE(client.send(rendezvous::encode_request(
          id, {.command = Command::get, .keys = {"never"}, .timeout = std::chrono::hours(1)})));
    ASSERT_TRUE(client.send(rendezvous::encode_request(4, {.command = Command::check})));
    ASSERT_TRUE(client.receive());  // so the three waits stand in the table
    EXPECT_THROW(honest_->get("absent", 0s), StoreError);
    EXPECT_EQ(server_->client_count(), 2U);
    { const auto leaves = std::move(client); }
    EXPECT_TRUE(eventually([&] { return server_->client_count() == 1; }));
    EXPECT_THROW(honest_->get("absent", 0s), StoreTimeoutError);
  }
  honest_.reset();
  EXPECT_TRUE(eventually([&] { return server_->client_count() == 0; }));
}

TEST_F(TcpStoreHostile, AClientThatDoesNotReadIsDropped) {
  rendezvous::TableLimits limits;
  limits.output_bytes = std::size_t{1} << 20;
  serve(limits);
  honest_->set("big", Store::Value(StoreLimits().value_bytes));
  RawClient deaf(server_->port());
  const auto get = rendezvous::encode_request(1, {.command = Command::get, .keys = {"big"}, .timeout = 1s});
  // Far more than the kernel's buffers hold; the host closes in the middle of it.
  for (int i = 0; i < 100 && deaf.send(get, 1s); ++i) continue;
  // Not the number of clients first: the host may not have counted this one yet.
  EXPECT_TRUE(eventually([&] {
    const std::scoped_lock lock(mutex_);
    return log_.find("does not read its replies") != std::string::npos;
  }));
  EXPECT_TRUE(eventually([&] { return server_->client_count() == 1; }));
  EXPECT_EQ(honest_->get("big").size(), StoreLimits().value_bytes);
}

TEST_F(TcpStoreHostile, OneValueForManyDeafWaitersDropsThemInTheMiddleOfAWake) {
  rendezvous::TableLimits limits;
  limits.output_bytes = 0;
  serve(limits);
  RawClient deaf(server_->port());
  base::Bytes gets;
  for (std::uint64_t id = 1; id <= 100; ++id) {
    const auto get =
        rendezvous::encode_request(id, {.command = Command::get, .keys = {"big"}, .timeout = patience});
    gets.insert(gets.end(), get.begin(), get.end());
  }
  ASSERT_TRUE(deaf.send(gets));
  ASSERT_TRUE(deaf.send(rendezvous::encode_request(101, {.command = Command::check})));
  ASSERT_TRUE(deaf.receive());
  honest_->set("big", Store::Value(StoreLimits().value_bytes));
  EXPECT_TRUE(eventually([&] { return server_->client_count() == 1; }));
  EXPECT_EQ(honest_->get("big").size(), StoreLimits().value_bytes);
}

}  // namespace
}  // namespace parley::test
