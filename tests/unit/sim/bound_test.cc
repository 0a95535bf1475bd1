#include "tools/sim/bound.h"

#include <gtest/gtest.h>

#include "tests/unit/sim/settings.h"
#include "tools/sim/contest.h"

namespace parley::sim {
namespace {

using schedule::Operation;

double bound(const Setting& setting, Operation operation, std::uint64_t bytes) {
  return lower_bound_ns(setting, {.operation = operation, .bytes = bytes});
}

TEST(Bound, IsTheTimeOfTheBestBroadcastWhereNothingIsMoved) {
  Setting setting = alone(8);
  setting.model.far.message_ns = 1000;
  setting.model.far.pieces[0].latency_ns = 0;
  // Without latency what is known doubles.
  EXPECT_NEAR(bound(setting, Operation::barrier, 0), 3000, 1e-6);
  // A rank that tells one after the other is better than doubling where latency is much.
  setting.model.far = {1, {{0, 1000, 2, 0}}};
  EXPECT_LT(bound(setting, Operation::barrier, 0), 1010);
}

TEST(Bound, IsWhatHasToBeMovedWhereThatIsMuch) {
  const double bytes = 64 << 20;
  const Setting setting = alone(8);
  EXPECT_NEAR(bound(setting, Operation::all_reduce, 64 << 20), 2 * 7.0 / 8 * bytes * 2, 1);
  EXPECT_NEAR(bound(setting, Operation::broadcast, 64 << 20), bytes * 2, 1);
  EXPECT_NEAR(bound(setting, Operation::all_gather, 64 << 20), 7 * bytes * 2, 1);
  EXPECT_NEAR(bound(setting, Operation::all_to_all, 64 << 20), 7 * bytes * 2, 1);
}

TEST(Bound, LooksAtRailsAndUplinks) {
  Setting setting = alone(32);
  setting.network.ranks_per_host = 4;
  const double bytes = 64 << 20;
  EXPECT_NEAR(bound(setting, Operation::all_reduce, 64 << 20), 2 * 7.0 / 8 * bytes * 2, 1);
  setting.network.hosts_per_rack = 4;
  setting.network.oversubscription = 16;  // as wide as a quarter of a rail
  EXPECT_NEAR(bound(setting, Operation::all_reduce, 64 << 20), 2 * 1.0 / 2 * bytes * 8, 1);
}

TEST(Bound, IsBeatenByNoAlgorithm) {
  for (const Operation operation : schedule::all_operations())
    for (const std::uint32_t each : {1U, 4U, 16U})
      for (const std::uint32_t rack : {0U, 2U})
        for (const std::uint64_t bytes : {8ULL, 4096ULL, 1ULL << 20}) {
          Setting setting = alone(16);
          setting.network.ranks_per_host = each;
          setting.network.hosts_per_rack = rack;
          setting.network.oversubscription = 3;
          const Contest contest = hold(setting, {.operation = operation, .bytes = bytes}, {});
          EXPECT_GE(contest.fastest().figure.ns * (1 + 1e-9), contest.bound_ns)
              << schedule::name(operation) << " of " << bytes << " by "
              << schedule::name(contest.fastest().candidate.algorithm) << ", " << each << " on a host";
        }
}

}  // namespace
}  // namespace parley::sim
