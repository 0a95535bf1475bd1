// Random programs over random groups: 2 to 12 processes that make groups and drop them, and send in them what
// there is to send, in every way. What each receive must get follows from the program alone.
//
//   multiprocess_programs --seed 17     one program again

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/multiprocess/programs/program.h"
#include "tests/multiprocess/programs/rank_run.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/seed_option.h"

namespace parley::testing {
namespace {

TEST(RandomPrograms, DoWhatTheModelSays) {
  const std::uint64_t first = only_seed().value_or(1);
  const std::uint64_t count = only_seed() ? 1 : long_tests() ? 1000 : 25;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Program program = make_program(seed);
    const auto run = [&](int, int) { RankRun(program, init()).run(); };
    ASSERT_EQ(run_ranks(program.ranks, run, {.timeout = std::chrono::seconds(120)}), 0)
        << "seed " << seed << ", " << program.ranks << " ranks: again with --seed " << seed;
  }
}

}  // namespace
}  // namespace parley::testing

int main(int argc, char** argv) {
  return parley::testing::run_seeded_tests(argc, argv, "multiprocess_programs");
}
