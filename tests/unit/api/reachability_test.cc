#include "api/wireup/reachability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parley::wireup {
namespace {

using rendezvous::AddressCard;
using ::testing::HasSubstr;

AddressCard card(const std::string& host, const std::string& address) {
  return {.host = host,
          .host_id = host + "-id",
          .pid = 7,
          .tcp_address = address,
          .shm_address = {},
          .cores = {}};
}

TEST(Reachability, LoopbackIsFineOnOneHost) {
  EXPECT_FALSE(find_unreachable({card("a", "127.0.0.1:1"), card("a", "127.0.0.1:2")}));
  EXPECT_FALSE(find_unreachable({}));
}

TEST(Reachability, SeveralHostsWithAddressesOfTheirOwnAreFine) {
  EXPECT_FALSE(find_unreachable({card("a", "10.0.0.1:1"), card("b", "[fd00::1]:2")}));
}

TEST(Reachability, ALoopbackAddressAmongSeveralHostsIsNamedWithWhatToSet) {
  for (const char* address : {"127.0.1.1:99", "127.0.0.1:99", "[::1]:99"}) {
    const auto hidden =
        find_unreachable({card("b", "10.0.0.1:1"), card("a", address), card("b", "10.0.0.1:2")});
    ASSERT_TRUE(hidden) << address;
    EXPECT_EQ(hidden->rank, 1);
    EXPECT_THAT(hidden->text, HasSubstr("rank 1 (a, pid 7) listens on " + std::string(address)));
    EXPECT_THAT(hidden->text, HasSubstr("rank 0 on b cannot reach"));
    EXPECT_THAT(hidden->text, HasSubstr("PARLEY_SOCKET_IFNAME or PARLEY_HOST on a"));
  }
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
