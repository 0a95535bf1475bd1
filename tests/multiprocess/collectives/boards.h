#pragma once

#include <gtest/gtest.h>
#include <parley/process_group.h>

#include <chrono>

#include "tests/long_tests.h"
#include "tests/multiprocess/support/ranks.h"

// What the tests of boards have in common.
namespace parley::testing {

// For tests whose full counts take minutes.
inline const RanksOptions long_over_shm{.timeout = std::chrono::seconds(long_tests() ? 900 : 60),
                                        .environment = over_shm.environment};

// So many calls that the ranks have met, and go by boards.
inline void warm_up(ProcessGroup& group) {
  for (int i = 0; i < 6; ++i) group.barrier();
}

// A group whose ranks have met, so that its collectives go by boards, and have all returned.
inline ProcessGroup group_on_boards(ProcessGroup& world) {
  ProcessGroup group = world.dup();
  warm_up(group);
  expect_contains(group.describe_plan("all_reduce", 8), ": flat");
  world.barrier();
  return group;
}

// Of this rank: GoogleTest's assertions are lost in it.
inline void expect_no_failure() {
  expect(!::testing::Test::HasFailure(), "every result is right");
}

}  // namespace parley::testing
