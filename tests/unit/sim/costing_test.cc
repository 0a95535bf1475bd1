// Times against closed forms, where nothing is in the way of anything; and what changes where something is.
#include "tools/sim/costing.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/schedule/rounds.h"
#include "api/schedule/symmetry.h"
#include "tests/unit/sim/settings.h"
#include "tools/sim/cast.h"

namespace parley::sim {
namespace {

using schedule::Algorithm;
using schedule::Operation;

// One message between hosts, with simple_model().
double message(double bytes) {
  return 100 + 900 + 2 * bytes;
}

TEST(Costing, ARingTakesTwiceAllOthersOnceEach) {
  for (const std::uint32_t ranks : {2U, 3U, 8U, 17U, 64U}) {
    const double block = 40, others = ranks - 1;
    const Figure figure = cost(alone(ranks), Operation::all_reduce, Algorithm::ring, 40 * ranks);
    EXPECT_NEAR(figure.ns, 2 * others * message(block) + others * 0.5 * block, 1e-6) << ranks;
    EXPECT_EQ(figure.accuracy, Accuracy::exact);
  }
}

TEST(Costing, RecursiveDoublingTakesLogarithmicallyMany) {
  for (const std::uint32_t ranks : {2U, 8U, 64U, 1024U}) {
    const double bytes = 400, rounds = schedule::doubling_rounds(ranks);
    EXPECT_NEAR(cost(alone(ranks), Operation::all_reduce, Algorithm::recursive_doubling, 400).ns,
                rounds * (message(bytes) + 0.5 * bytes), 1e-6)
        << ranks;
  }
}

TEST(Costing, ABinomialTreeTakesARoundForEachDoublingWhereLatencyIsNothing) {
  for (const std::uint32_t ranks : {2U, 3U, 8U, 21U, 64U}) {
    Setting setting = alone(ranks);
    setting.model.far.pieces[0].latency_ns = 0;
    EXPECT_NEAR(cost(setting, Operation::broadcast, Algorithm::binomial, 400).ns,
                schedule::doubling_rounds(ranks) * (100 + 2.0 * 400), 1e-6)
        << ranks;
  }
}

TEST(Costing, ALinearBroadcastIsLimitedByItsRoot) {
  EXPECT_NEAR(cost(alone(9), Operation::broadcast, Algorithm::linear, 400).ns, 8 * (100 + 800.0) + 900, 1e-6);
}

TEST(Costing, AChainIsFilledOnceAndThenEveryLinkIsBusy) {
  const double segment = 100 + 2.0 * 40;
  EXPECT_NEAR(cost(alone(5), Operation::broadcast, Algorithm::chain, 400, 40).ns,
              4 * (segment + 900) + 9 * segment, 1e-6);
}

TEST(Costing, DisseminationTellsInRounds) {
  EXPECT_NEAR(cost(alone(100), Operation::barrier, Algorithm::dissemination, 0).ns, 7 * message(0), 1e-6);
}

TEST(Costing, RanksOfOneHostShareItsRails) {
  Setting setting = alone(16);
  setting.network.ranks_per_host = 4;
  const auto time = [&](std::uint32_t rails) {
    setting.network.rails = rails;
    return cost(setting, Operation::all_reduce, Algorithm::recursive_doubling, 1 << 20).ns;
  };
  // Two rounds within the host, two between hosts, in which four messages leave it.
  const double bytes = 1 << 20, near = 2 * (100 + bytes + 0.5 * bytes);
  EXPECT_NEAR(time(4), near + 2 * (message(bytes) + 0.5 * bytes), 1e-3);
  // One rail carries the eight messages one after another, and is never idle: who has its message first folds
  // and sends the next one while those of its neighbours pass. Only the last fold is seen.
  EXPECT_NEAR(time(1), near + 8 * 2 * bytes + 100 + 900 + 0.5 * bytes, 1e-3);
  EXPECT_GT(time(2), time(4));
  EXPECT_GT(time(1), time(2));
}

TEST(Costing, AnOversubscribedUplinkIsSharedByItsRack) {
  Setting setting = alone(16);
  setting.network.hosts_per_rack = 8;
  const auto time = [&](double oversubscription) {
    setting.network.oversubscription = oversubscription;
    return cost(setting, Operation::all_reduce, Algorithm::recursive_doubling, 1 << 20).ns;
  };
  const double bytes = 1 << 20, round = message(bytes) + 0.5 * bytes;
  // Three rounds within racks; in the fourth all eight hosts of a rack send to the other one.
  // An uplink as wide as the eight rails below it is in nobody's way; one of a quarter needs four times as
  // long.
  EXPECT_NEAR(time(1), 4 * round + 50, 1e-3);
  EXPECT_NEAR(time(4) - time(1), 3 * 2 * bytes, 1e-3);
}

TEST(Costing, ARingCrossesUplinksOnceAndDoesNotMind) {
  Setting setting = alone(16);
  setting.network.hosts_per_rack = 8;
  setting.network.oversubscription = 8;  // as wide as one rail
  const double wide = cost(alone(16), Operation::all_reduce, Algorithm::ring, 1 << 20).ns;
  EXPECT_LT(cost(setting, Operation::all_reduce, Algorithm::ring, 1 << 20).ns, wide + 40 * 50);
}

TEST(Costing, MoreBytesMoreRanksAndDearerPricesNeverTakeLess) {
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::recursive_doubling, Algorithm::rabenseifner,
                                    Algorithm::binomial, Algorithm::linear, Algorithm::two_level}) {
    Setting setting = alone(16);
    setting.network.ranks_per_host = 4;
    double last = 0;
    for (std::uint64_t bytes = 64; bytes <= 4 << 20; bytes *= 4) {
      const double now = cost(setting, Operation::all_reduce, algorithm, bytes).ns;
      EXPECT_GT(now, last) << schedule::name(algorithm) << ", " << bytes;
      last = now;
      Setting dearer = setting;
      dearer.model.far.pieces[0].latency_ns *= 2;
      EXPECT_GE(cost(dearer, Operation::all_reduce, algorithm, bytes).ns, now) << schedule::name(algorithm);
      dearer = setting;
      dearer.model.fold_byte_ns *= 2;
      EXPECT_GE(cost(dearer, Operation::all_reduce, algorithm, bytes).ns, now) << schedule::name(algorithm);
    }
    setting.network.ranks = 64;
    EXPECT_GT(cost(setting, Operation::all_reduce, algorithm, 4 << 20).ns, last * 0.999)
        << schedule::name(algorithm);
  }
}

TEST(Costing, IsTheSameEachTime) {
  Setting setting = alone(48);
  setting.network.ranks_per_host = 4;
  for (const schedule::Entry& entry : schedule::catalogue()) {
    const std::vector<std::uint32_t> hosts = setting.network.host_of_each();
    const Call call{.operation = entry.operation, .bytes = 4096};
    const schedule::Request request = request_of(setting, call, hosts);
    if (!schedule::supports(entry.operation, entry.algorithm, request.shape)) continue;
    EXPECT_EQ(cost_of(setting, request, {entry.algorithm}, false).ns,
              cost_of(setting, request, {entry.algorithm}, false).ns);
  }
}

TEST(Costing, LooksAtFewRanksWhereTheyDoTheSameAndFindsTheSameTime) {
  for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter,
                                    Operation::all_to_all, Operation::barrier}) {
    for (const Algorithm algorithm : schedule::all_algorithms()) {
      Setting setting = alone(64);
      setting.network.ranks_per_host = 4;
      const std::vector<std::uint32_t> hosts = setting.network.host_of_each();
      const Call call{.operation = operation, .bytes = 4096};
      const schedule::Request request = request_of(setting, call, hosts);
      if (!schedule::supports(operation, algorithm, request.shape)) continue;
      const Figure few = cost_of(setting, request, {algorithm}, false);
      setting.slowdown.assign(64, 1.0F);  // all of them are looked at
      const Figure all = cost_of(setting, request, {algorithm}, false);
      EXPECT_NEAR(few.ns / all.ns, 1, 0.02)
          << schedule::name(operation) << " by " << schedule::name(algorithm);
      const bool is_symmetric =
          schedule::symmetry(operation, algorithm, request.shape).kind != schedule::Symmetry::Kind::none;
      EXPECT_EQ(few.steps < all.steps, is_symmetric) << schedule::name(algorithm);
    }
  }
}

TEST(Costing, SharesMemoryOnOneHost) {
  Setting setting = alone(2);
  setting.network.ranks_per_host = 2;
  // Each sees by the other's mark that there is room, shows its own, sees the next mark of the other and
  // folds.
  EXPECT_NEAR(cost(setting, Operation::all_reduce, Algorithm::flat, 32).ns, 1 + 0.25 * 32 + 30 + 1 + 0.5 * 32,
              1e-6);
}

TEST(Costing, WhatACoreMovesBothWaysItMovesOneAfterTheOther) {
  Setting setting = alone(2);
  setting.model.far.pieces[0].core_byte_ns = 1.5;
  const double bytes = 1 << 20;
  EXPECT_NEAR(cost(setting, Operation::broadcast, Algorithm::binomial, 1 << 20).ns, message(bytes), 1e-6);
  EXPECT_NEAR(cost(setting, Operation::all_reduce, Algorithm::recursive_doubling, 1 << 20).ns,
              900 + 2 * 1.5 * bytes + 0.5 * bytes, 1e-6);
}

TEST(Costing, AStragglerHoldsUpAllOthers) {
  Setting setting = alone(8);
  const double even = cost(setting, Operation::all_reduce, Algorithm::ring, 8 << 20).ns;
  setting.slowdown.assign(8, 1.0F);
  EXPECT_NEAR(cost(setting, Operation::all_reduce, Algorithm::ring, 8 << 20).ns, even, 1e-3);
  setting.slowdown[3] = 3;
  const double slowed = cost(setting, Operation::all_reduce, Algorithm::ring, 8 << 20).ns;
  EXPECT_GT(slowed, 2 * even);
  EXPECT_LE(slowed, 3 * even);
}

TEST(Costing, HasAPromiseForWhatIsTooLarge) {
  Setting setting = alone(24);
  const Figure exact = cost(setting, Operation::all_reduce, Algorithm::recursive_doubling, 4096);
  setting.most_steps = 100;
  const Figure promised = cost(setting, Operation::all_reduce, Algorithm::recursive_doubling, 4096);
  EXPECT_EQ(promised.accuracy, Accuracy::promised);
  EXPECT_GE(promised.ns, exact.ns);
  EXPECT_LT(promised.ns, 1.5 * exact.ns);
}

TEST(Costing, EvensBlocksOutWhereThatMakesItPossible) {
  Setting setting = alone(64);
  setting.most_steps = 1000;
  const Figure evened = cost(setting, Operation::all_reduce, Algorithm::ring, 4 * 6401);
  EXPECT_EQ(evened.accuracy, Accuracy::evened);
  EXPECT_NEAR(evened.ns, cost(setting, Operation::all_reduce, Algorithm::ring, 4 * 6464).ns, 1e-6);
}

// What 65536 ranks take is counted: of a program and of what a simulation keeps, some 60 bytes a step.
TEST(Costing, LooksAtSoFewStepsOfManyRanksThatMemoryDoes) {
  Setting setting = alone(65536);
  setting.network.ranks_per_host = 8;
  for (const Algorithm algorithm :
       {Algorithm::recursive_doubling, Algorithm::rabenseifner, Algorithm::two_level, Algorithm::binomial,
        Algorithm::two_level_sliced, Algorithm::bruck}) {
    const Figure figure = cost(setting, Operation::all_reduce, algorithm, 1 << 20);
    EXPECT_EQ(figure.accuracy, Accuracy::exact) << schedule::name(algorithm);
    EXPECT_LT(figure.steps, 1U << 20) << schedule::name(algorithm);
  }
  const Figure ring = cost(setting, Operation::all_reduce, Algorithm::ring, 1 << 20);
  EXPECT_EQ(ring.accuracy, Accuracy::exact);
  EXPECT_LT(ring.steps, 4U << 20);
}

}  // namespace
}  // namespace parley::sim
