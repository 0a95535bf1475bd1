// A rank that waits on the boards and has no memory at all. In a program of its own: see tests/shortage.h.
#include <gtest/gtest.h>
#include <parley/parley.h>

#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "tests/multiprocess/collectives/boards.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/shortage.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

// It looks for what tells why after each second, and tells of itself after ten.
TEST(CollectiveWithoutMemory, WhoWaitsGoesOn) {
  const int status = run_ranks(2,
                               [](int rank, int) {
                                 ProcessGroup world = init();
                                 for (int call = 0; call < 10; ++call) world.barrier();
                                 if (rank == 1) std::this_thread::sleep_for(10500ms);
                                 if (rank == 0) Shortage::begin({.refusals = endless});
                                 world.barrier();
                                 const int refusals_left = Shortage::end().refusals;
                                 expect(rank == 1 || refusals_left < endless, "memory was asked for");
                               },
                               {.timeout = 60s, .environment = {{"PARLEY_TRANSPORTS", "shm"}}});
  EXPECT_EQ(status, 0);
}

// What lies apart is brought together, by calls that want memory for that and do not get it: they go on
// without, or may be made again.
TEST(CollectiveWithoutMemory, ListsAreBroughtTogetherAtLast) {
  const auto run = [](int rank, int ranks) {
    ProcessGroup world = init();
    int refused = 0, failed = 0;
    for (int first = 0; first < 12; ++first)
      for (const int refusals : {1, 2}) {
        ProcessGroup group = world.dup();  // whose runs have no lists yet
        warm_up(group);
        std::vector<std::vector<int>> own, got;
        std::vector<Tensor> out, in;
        for (int other = 0; other < ranks; ++other) {
          out.push_back(Tensor(own.emplace_back(1'000, 10 * rank + other)));
          in.push_back(Tensor(got.emplace_back(1'000, -1)));
        }
        if (rank == 0) Shortage::begin({.after = first, .refusals = refusals});
        const auto has_called = [&] {
          try {
            group.all_to_all(in, out);
            return true;
          } catch (const ResourceError&) {
          } catch (const std::bad_alloc&) {  // nor is there any for what it would say
          }
          return false;
        };
        while (!has_called()) ++failed;
        if (rank == 0 && Shortage::end().refusals < refusals) ++refused;
        for (int other = 0; other < ranks; ++other)
          expect(got[static_cast<std::size_t>(other)] == std::vector<int>(1'000, 10 * other + rank),
                 "content");
      }
    expect(rank != 0 || refused > 0, "memory was asked for");
    expect(rank == 0 || failed == 0, "only who has none fails");
  };
  EXPECT_EQ(run_ranks(2, run, {.environment = {{"PARLEY_TRANSPORTS", "shm"}}}), 0);
}

}  // namespace
}  // namespace parley::testing
