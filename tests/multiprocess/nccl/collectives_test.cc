// NCCL between processes that have a device each.

#include <gtest/gtest.h>
#include <parley/batch.h>
#include <parley/parley.h>

#include <algorithm>
#include <vector>

#include "tests/multiprocess/nccl/nccl_rank.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using nccl::testing::Fabric;

TEST(Nccl, CollectivesAndBatchesBetweenProcesses) {
  const SharedPage<Fabric> fabric;
  const int code = run_ranks(3, [&](int rank, int size) {
    NcclRank own(rank, *fabric);
    {
      constexpr std::size_t count = 5000;
      ProcessGroup world = init();
      const DeviceNumbers in(own, count), out(own, count), all(own, count * static_cast<std::size_t>(size));
      for (int round = 0; round < 5; ++round) {
        in.put(std::vector<std::int64_t>(count, rank + round));
        world.all_reduce(out.tensor(), in.tensor());
        expect(out.get() == std::vector<std::int64_t>(count, 3 * round + 3), "all_reduce");
        world.all_gather_into_tensor(all.tensor(), in.tensor());
        std::vector<std::int64_t> wanted;
        for (int other = 0; other < size; ++other) wanted.insert(wanted.end(), count, other + round);
        expect(all.get() == wanted, "all_gather");
        auto works = world.batch_isend_irecv({P2POp{P2POp::isend, in.tensor(), (rank + 1) % size},
                                              P2POp{P2POp::irecv, out.tensor(), (rank + 2) % size}});
        wait_all(works);
        expect(out.get() == std::vector<std::int64_t>(count, (rank + 2) % size + round), "batch");
      }
      expect_contains(world.describe(), "devices: NCCL 2.28.9 on cuda:0");
      expect(!own.nccl().operations().empty(), "NCCL was called");
      world.barrier();
      destroy();
    }
    own.expect_nothing_left();
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(fabric->mismatches, 0U);
}

}  // namespace
}  // namespace parley::testing
