#include "bench/bandwidth.h"

#include <gtest/gtest.h>

namespace parley::bench {
namespace {

// nccl-tests, doc/PERFORMANCE.md.
TEST(Bandwidth, IsThatOfNcclTests) {
  struct Case {
    Op op;
    double algorithm;  // 1000 bytes a block or vector, 4 ranks, 10 us
    double factor;
  };
  for (const Case& each : {Case{Op::all_reduce, 100, 1.5},
                           {Op::broadcast, 100, 1},
                           {Op::reduce, 100, 1},
                           {Op::all_gather, 400, 0.75},
                           {Op::reduce_scatter, 400, 0.75},
                           {Op::all_to_all, 400, 0.75},
                           {Op::gather, 400, 0.75},
                           {Op::scatter, 400, 0.75}}) {
    EXPECT_DOUBLE_EQ(algorithm_mb_per_s(each.op, 1000, 4, 10), each.algorithm) << to_string(each.op);
    EXPECT_DOUBLE_EQ(bus_factor(each.op, 4), each.factor) << to_string(each.op);
  }
}

}  // namespace
}  // namespace parley::bench
