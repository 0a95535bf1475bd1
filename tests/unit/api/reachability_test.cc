#include "api/wireup/reachability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

namespace parley::wireup {
namespace {

using rendezvous::AddressCard;
using ::testing::HasSubstr;
using ::testing::Not;

// As a place that people describe by environment variables or a URL.
StoreOrigin found_by(const std::map<std::string, std::string>& variables,
                     const std::string& method = "env://") {
  rendezvous::Surroundings around;
  around.variable = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  around.maker_of_socket = [](int) { return std::nullopt; };
  return origin_of_store(rendezvous::discover(method, -1, -1, around), false);
}

std::string advice(const StoreOrigin& origin) {
  const auto hidden =
      find_unreachable({{.host = "a", .host_id = "1", .pid = 7, .tcp_address = "127.0.0.1:99", .cores = {}},
                        {.host = "b", .host_id = "2", .pid = 8, .tcp_address = "10.0.0.1:1", .cores = {}}},
                       origin);
  return hidden ? hidden->text : "none";
}

const StoreOrigin at_master{StoreOrigin::Kind::network, "MASTER_ADDR"};

AddressCard card(const std::string& host, const std::string& address) {
  return {.host = host,
          .host_id = host + "-id",
          .pid = 7,
          .tcp_address = address,
          .shm_address = {},
          .cores = {}};
}

TEST(Reachability, LoopbackIsFineOnOneHost) {
  EXPECT_FALSE(find_unreachable({card("a", "127.0.0.1:1"), card("a", "127.0.0.1:2")}, at_master));
  EXPECT_FALSE(find_unreachable({}, at_master));
}

TEST(Reachability, SeveralHostsWithAddressesOfTheirOwnAreFine) {
  EXPECT_FALSE(find_unreachable({card("a", "10.0.0.1:1"), card("b", "[fd00::1]:2")}, at_master));
}

TEST(Reachability, ALoopbackAddressAmongSeveralHostsIsNamedWithWhatToSet) {
  for (const char* address : {"127.0.1.1:99", "127.0.0.1:99", "[::1]:99"}) {
    const auto hidden =
        find_unreachable({card("b", "10.0.0.1:1"), card("a", address), card("b", "10.0.0.1:2")}, at_master);
    ASSERT_TRUE(hidden) << address;
    EXPECT_EQ(hidden->rank, 1);
    EXPECT_THAT(hidden->text, HasSubstr("rank 1 (a, pid 7) listens on " + std::string(address)));
    EXPECT_THAT(hidden->text, HasSubstr("rank 0 on b cannot reach"));
    EXPECT_THAT(hidden->text, HasSubstr("PARLEY_SOCKET_IFNAME or PARLEY_HOST on a"));
  }
}

TEST(Reachability, TheAdviceNamesWhatSaidWhereTheStoreIs) {
  EXPECT_THAT(
      advice(found_by({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}, {"RANK", "0"}, {"WORLD_SIZE", "2"}})),
      HasSubstr(": set MASTER_ADDR to an address"));
  EXPECT_THAT(advice(found_by({{"MASTER_ADDR", "a"},
                               {"MASTER_PORT", "1"},
                               {"RANK", "0"},
                               {"WORLD_SIZE", "2"},
                               {"PARLEY_STORE", "launcher"}})),
              HasSubstr(": set parley-run's --rendezvous to an address"));
  EXPECT_THAT(advice(found_by({{"MASTER_ADDR", "b"},
                               {"MASTER_PORT", "1"},
                               {"PARLEY_STORE", "tcp://a:1"},
                               {"PARLEY_RANK", "0"},
                               {"PARLEY_WORLD_SIZE", "2"}})),
              HasSubstr(": set the host in PARLEY_STORE to an address"));
  EXPECT_THAT(advice(found_by({{"MASTER_ADDR", "b"}, {"MASTER_PORT", "1"}}, "tcp://a:1?rank=0&world_size=2")),
              HasSubstr(": set the host in init()'s tcp:// to an address"));
}

TEST(Reachability, WithAStoreInAFileTheRanksListenOnLoopback) {
  const std::string text = advice(found_by({}, "file:///shared/store?rank=0&world_size=2"));
  EXPECT_THAT(text, HasSubstr("With a store in a file the ranks listen on loopback: set PARLEY_HOST or "
                              "PARLEY_SOCKET_IFNAME on a"));
  EXPECT_THAT(text, Not(HasSubstr("MASTER_ADDR")));
  EXPECT_THAT(text, Not(HasSubstr("127.0.1.1")));
}

TEST(Reachability, AStoreOfTheProgramIsNotBlamed) {
  const std::string text = advice(origin_of_store({}, true));
  EXPECT_THAT(text, HasSubstr("Set PARLEY_HOST, PARLEY_SOCKET_IFNAME or InitOptions::host on a"));
  EXPECT_THAT(text, Not(HasSubstr("MASTER_ADDR")));
}

TEST(Reachability, AStoreWhoseNameIsALoopbackAddressHereIsExplained) {
  // A number of a form that only the resolver reads, so that it counts as a name.
  EXPECT_THAT(advice_on_missing("0x7f000101", "MASTER_ADDR"), HasSubstr("since '0x7f000101' is 127.0."));
  EXPECT_THAT(advice_on_missing("0x7f000101", "MASTER_ADDR"), HasSubstr("lo 127.0.0.1"));
  EXPECT_THAT(advice_on_missing("0x7f000101", "--rendezvous"),
              HasSubstr("only when --rendezvous is another"));
}

TEST(Reachability, ALoopbackAddressOnPurposeNeedsNoAdvice) {
  for (const char* host : {"127.0.0.1", "::1", "localhost", "127.0.1.1"})
    EXPECT_EQ(advice_on_missing(host, "MASTER_ADDR"), "") << host;
  EXPECT_EQ(advice_on_missing(std::string(80, 'a'), "MASTER_ADDR"), "");
}

}  // namespace
}  // namespace parley::wireup
