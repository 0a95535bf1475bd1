// Worlds that find each other by IPv6 addresses and by names with several addresses, on one host.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <cstdlib>
#include <span>
#include <string>

#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

void expect_works(ProcessGroup world) {
  const int own = world.rank();
  int got = -1;
  const int next = (own + 1) % world.size(), previous = (own + world.size() - 1) % world.size();
  world.sendrecv(std::span(&own, 1), next, std::span(&got, 1), previous);
  expect_equal(got, previous, "a rank's number");
}

std::string free_port() {
  const std::string address = free_address();
  return address.substr(address.rfind(':') + 1);
}

// One host has better links.
const RanksOptions over_tcp{.environment = {{"PARLEY_TRANSPORTS", "tcp"}}};

// All that a rank says about its links.
void expect_listens_on(const ProcessGroup& world, const std::string& address) {
  expect_contains(world.describe(), address);
}

TEST(IPv6, AUrlMayHoldAnAddressInBrackets) {
  const std::string address = "tcp://[::1]:" + free_port();
  EXPECT_EQ(run_ranks(
                3,
                [&](int rank, int count) {
                  ProcessGroup world = join(address, rank, count);
                  expect_works(world);
                  expect_listens_on(world, "[::1]:");
                },
                over_tcp),
            0);
}

TEST(IPv6, MasterAddrMayBeOne) {
  const std::string port = free_port();
  EXPECT_EQ(run_ranks(
                2,
                [&](int, int) {
                  setenv("MASTER_ADDR", "::1", 1);
                  setenv("MASTER_PORT", port.c_str(), 1);
                  unsetenv("PARLEY_STORE");
                  expect_works(init());
                },
                over_tcp),
            0);
}

TEST(IPv6, ANameWithSeveralAddressesIsTriedWithAllOfThem) {
  const std::string address = "tcp://localhost:" + free_port();
  EXPECT_EQ(run_ranks(
                2, [&](int rank, int count) { expect_works(join(address, rank, count)); }, over_tcp),
            0);
}

TEST(IPv6, RanksOfOneWorldMayListenOnEitherFamily) {
  const std::string address = free_address();
  EXPECT_EQ(run_ranks(
                2,
                [&](int rank, int count) {
                  setenv("PARLEY_HOST", rank == 0 ? "::1" : "127.0.0.1", 1);
                  expect_works(join(address, rank, count));
                },
                over_tcp),
            0);
}

}  // namespace
}  // namespace parley::testing
