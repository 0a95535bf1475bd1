// Sums that NCCL divides or multiplies, between processes that have a device each.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <cstddef>
#include <vector>

#include "tests/multiprocess/nccl/nccl_rank.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using nccl::testing::Fabric;

constexpr std::size_t count = 3000;

using DeviceFloats = DeviceElements<double>;

void expect_all(const DeviceFloats& elements, double value, const char* call) {
  expect(elements.get() == std::vector<double>(count, value), call);
}

// All numbers are such that NCCL rounds none, in whatever order it divides and adds.
TEST(Nccl, AveragesAndScaledSumsBetweenProcesses) {
  if (const std::string reason = reason_against_sharing(); !reason.empty()) GTEST_SKIP() << reason;
  const SharedPage<Fabric> fabric;
  const auto run = [&](int rank, int) {
    NcclRank own(rank, *fabric);
    {
      ProcessGroup world = init();
      const DeviceFloats in(own, count), out(own, count);
      for (int round = 0; round < 3; ++round) {
        in.put(std::vector<double>(count, 4.0 * rank + 8.0 * round));
        out.put(std::vector<double>(count, -1.0));
        world.all_reduce(out.tensor(), in.tensor(), {.op = ReduceOp::avg});
        expect_all(out, 6.0 + 8.0 * round, "average");
        // Ranks may differ in the factor.
        world.all_reduce(out.tensor(), in.tensor(), {.op = ReduceOp::premul_sum(0.5 + rank)});
        expect_all(out,
                   (4.0 * (0 * 0.5 + 1 * 1.5 + 2 * 2.5 + 3 * 3.5)) + 8.0 * round * (0.5 + 1.5 + 2.5 + 3.5),
                   "scaled sum");
      }
      expect_contains(world.describe(), "devices: NCCL 2.");
      world.barrier();
      destroy();
    }
    own.expect_nothing_left();
  };
  EXPECT_EQ(run_ranks(4, run, ranks_with_nccl()), 0);
  EXPECT_EQ(fabric->mismatches, 0U);
}

}  // namespace
}  // namespace parley::testing
