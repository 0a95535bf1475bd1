// A rank that waits on the boards and has no memory at all. In a program of its own: see tests/shortage.h.
#include <gtest/gtest.h>
#include <parley/parley.h>

#include <chrono>
#include <thread>

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

}  // namespace
}  // namespace parley::testing
