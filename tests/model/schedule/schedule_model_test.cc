// Every algorithm of the catalogue, for every group size from 1 to 64: each rank gets the right result,
// whatever the order in which steps run and messages arrive; nothing waits for ever; no two steps that run at
// the same time touch the same elements; and the promised cost is kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "api/schedule/two_level.h"
#include "tests/long_tests.h"
#include "tests/model/schedule/proof.h"
#include "tests/sanitizer.h"

namespace parley::schedule {

// What GoogleTest says of a parameter.
static void PrintTo(const Entry& entry, std::ostream* out) {
  *out << name(entry.operation) << " by " << name(entry.algorithm);
}

namespace {

// Up to here: all roots and all counts, and with PARLEY_LONG_TESTS=1 every case of them.
constexpr std::uint32_t exhaustive_size = 9;

// Of each size, of an algorithm: drawn of all that there are.
std::size_t most_cases(std::uint32_t size) {
  if (size > exhaustive_size) return long_tests() ? 3 : 1;
  if (sanitizer::is_on) return 12;
  return long_tests() ? std::numeric_limits<std::size_t>::max() : 200;
}

// Whether ranks must share memory, or may.
bool needs_memory(Algorithm algorithm) {
  return algorithm == Algorithm::flat || algorithm == Algorithm::slices;
}

// Of those that share memory; of more they do not.
constexpr std::uint32_t most_neighbours = 64;

std::vector<std::uint32_t> sizes(Algorithm algorithm) {
  if (sanitizer::is_on) return {1, 2, 3, 5, 8, 11};
  if (needs_memory(algorithm)) return {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 17, 24, most_neighbours};
  std::vector<std::uint32_t> all(64);
  for (std::uint32_t i = 0; i < 64; ++i) all[i] = i + 1;
  return all;
}

std::vector<std::uint32_t> roots(Operation operation, std::uint32_t size) {
  if (!has_root(operation)) return {0};
  if (size > exhaustive_size) return {0, size / 3 + 1, size - 1};
  std::vector<std::uint32_t> all(size);
  for (std::uint32_t i = 0; i < size; ++i) all[i] = i;
  return all;
}

bool counts_are_of_blocks(Operation operation) {
  return operation == Operation::scatter || operation == Operation::gather ||
         operation == Operation::all_gather || operation == Operation::reduce_scatter ||
         operation == Operation::all_to_all;
}

std::vector<std::uint64_t> counts(Operation operation, std::uint32_t size) {
  if (operation == Operation::barrier) return {0};
  if (counts_are_of_blocks(operation))
    return size > exhaustive_size ? std::vector<std::uint64_t>{1, 3} : std::vector<std::uint64_t>{0, 1, 2, 7};
  if (size > exhaustive_size) return {size - 1, size + 1, 67};
  return {0, 1, size - 1, size, size + 1, 37};
}

bool looks_at_segments(Algorithm algorithm) {
  return algorithm == Algorithm::segmented_ring || algorithm == Algorithm::chain ||
         algorithm == Algorithm::binary_tree || algorithm == Algorithm::flat;
}

// Of memory that the ranks share: little, so that all goes in turns; or enough for most counts, in stages or
// on lines. And whether they lend, and after how many turns it is used again.
struct SharedRoom {
  std::uint64_t stage = 0;
  bool has_loans = false;
  std::uint64_t line = 0;
  std::int32_t line_turns = 2;
  std::int32_t stage_turns = 2;
  bool everyone_lends = false;
};
std::vector<SharedRoom> rooms(Algorithm algorithm, std::uint32_t size) {
  std::vector<SharedRoom> all;
  if (!needs_memory(algorithm)) all.push_back({});
  if (!needs_memory(algorithm) && !looks_at_hosts(algorithm)) return all;
  all.push_back({size, false, 2, 4, 2});
  all.push_back({2 * size + 5ULL, false, 2 * size + 1ULL});
  all.push_back({size, true, 2, 4, 4});
  all.push_back({size + 5ULL, true, 2});
  if (needs_memory(algorithm)) all.push_back({size, true, 2, 4, 4, true});
  if (size <= 3) {
    all.push_back({size, false, 2, 4, 4});
    // Blocks in whole lines, with room left.
    all.push_back({130ULL * size, false, 2});
  }
  return all;
}

std::vector<Case> cases(Operation operation, Algorithm algorithm, std::uint32_t size) {
  std::vector<Case> all;
  for (const std::uint32_t root : roots(operation, size))
    for (const std::uint64_t count : counts(operation, size))
      for (const bool uneven : {false, true})
        for (const InPlace in_place : {InPlace::nobody, InPlace::everybody, InPlace::odd_ranks})
          for (const std::uint64_t segment : {0, 3})
            for (const Placing placing : {Placing::one_host, Placing::in_turn, Placing::blocks}) {
              if (uneven && !counts_are_of_blocks(operation)) continue;
              if (segment > 0 && !looks_at_segments(algorithm)) continue;
              if (placing != Placing::one_host && !looks_at_hosts(algorithm)) continue;
              for (const auto& [stage, has_loans, line, line_turns, stage_turns, everyone_lends] :
                   rooms(algorithm, size))
                all.push_back({operation, algorithm, size, root, count, uneven, in_place, segment, placing,
                               stage, has_loans, line, line_turns, stage_turns, everyone_lends});
            }
  return all;
}

std::string name_of(const Entry& entry) {
  return std::string(name(entry.operation)) + "_" + std::string(name(entry.algorithm));
}

class ScheduleModel : public testing::TestWithParam<Entry> {};

TEST_P(ScheduleModel, KeepsWhatItPromises) {
  std::mt19937 random(20240611);
  for (const std::uint32_t size : sizes(GetParam().algorithm)) {
    std::vector<Case> chosen = cases(GetParam().operation, GetParam().algorithm, size);
    std::shuffle(chosen.begin(), chosen.end(), random);
    chosen.resize(std::min(chosen.size(), most_cases(size)));
    for (const Case& one : chosen) {
      const auto seed = static_cast<std::uint32_t>(random());
      ASSERT_EQ(prove(one, seed), "") << describe(one) << ", seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, ScheduleModel, testing::ValuesIn(catalogue().begin(), catalogue().end()),
                         [](const auto& entry) { return name_of(entry.param); });

}  // namespace
}  // namespace parley::schedule
