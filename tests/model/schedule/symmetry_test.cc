// What algorithms promise of ranks that send and receive alike, for all ranks of groups up to 64.
#include "api/schedule/symmetry.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "api/schedule/catalogue.h"
#include "tests/sanitizer.h"

namespace parley::schedule {
namespace {

using Transfer = std::tuple<StepKind, std::uint32_t, std::uint64_t>;  // peer, elements

std::vector<Transfer> transfers(const Schedule& schedule) {
  std::vector<Transfer> all;
  for (const Step& step : schedule.steps)
    if (is_transfer(step)) all.emplace_back(step.kind, step.peer, step.from.count + step.to.count);
  return all;
}

std::vector<std::uint32_t> hosts_of(std::uint32_t size, std::uint32_t each) {
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t rank = 0; each > 0 && rank < size; ++rank) hosts.push_back(rank / each);
  return hosts;
}

// Whether it promised anything; its promise is kept.
bool keeps_promise(const Entry& entry, Shape shape) {
  if (!supports(entry.operation, entry.algorithm, shape)) return false;
  const Symmetry promised = symmetry(entry.operation, entry.algorithm, shape);
  if (promised.kind == Symmetry::Kind::none) return false;
  for (std::uint32_t place = 0; place < promised.unit; ++place) {
    shape.rank = place;
    const std::vector<Transfer> first = transfers(make(entry.operation, entry.algorithm, shape));
    for (std::uint32_t distance = 1; distance < shape.size / promised.unit; ++distance) {
      std::vector<Transfer> expected = first;
      for (Transfer& one : expected)
        std::get<1>(one) = moved(promised, shape.size, std::get<1>(one), distance);
      shape.rank = moved(promised, shape.size, place, distance);
      EXPECT_EQ(transfers(make(entry.operation, entry.algorithm, shape)), expected)
          << name(entry.operation) << " by " << name(entry.algorithm) << ", rank " << shape.rank << " of "
          << shape.size << ", place " << place;
      EXPECT_EQ(distance_between(promised, shape.size, place, shape.rank), distance);
    }
  }
  return true;
}

TEST(Symmetry, IsKeptByAllRanks) {
  constexpr std::uint32_t largest = sanitizer::is_on ? 16 : 64;
  int promises = 0;
  for (const Entry& entry : catalogue())
    for (const std::uint32_t size : {2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 24, 31, 32, 64})
      for (const std::uint32_t each : {0, 1, 2, 3, 4, 8}) {
        const bool looks_at_hosts =
            entry.algorithm == Algorithm::two_level || entry.algorithm == Algorithm::two_level_sliced;
        if (size > largest || (each > 0 && (!looks_at_hosts || size % each != 0))) continue;
        const std::vector<std::uint32_t> hosts = hosts_of(size, each);
        for (const std::uint64_t segment : {0, 2})
          promises +=
              keeps_promise(entry,
                            {.size = size, .count = 3ULL * size, .segment_count = segment, .hosts = hosts})
                  ? 1
                  : 0;
      }
  EXPECT_GT(promises, largest == 64 ? 500 : 300);
}

TEST(Symmetry, IsOfRanksOrOfHosts) {
  const auto of = [](Operation operation, Algorithm algorithm, std::uint32_t size, std::uint64_t count,
                     std::uint32_t each) {
    const std::vector<std::uint32_t> hosts = hosts_of(size, each);
    return symmetry(operation, algorithm, {.size = size, .count = count, .hosts = hosts});
  };
  using Kind = Symmetry::Kind;
  EXPECT_EQ(of(Operation::all_reduce, Algorithm::ring, 6, 12, 0), (Symmetry{Kind::rotation, 1}));
  EXPECT_EQ(of(Operation::all_reduce, Algorithm::recursive_doubling, 8, 1, 0), (Symmetry{Kind::exchange, 1}));
  EXPECT_EQ(of(Operation::all_reduce, Algorithm::two_level, 8, 1, 2), (Symmetry{Kind::exchange, 2}));
  EXPECT_EQ(of(Operation::all_gather, Algorithm::two_level, 6, 1, 2), (Symmetry{Kind::rotation, 2}));
}

TEST(Symmetry, IsNotPromisedWhereRanksDiffer) {
  const auto kind = [](Operation operation, Algorithm algorithm, const Shape& shape) {
    return symmetry(operation, algorithm, shape).kind;
  };
  constexpr auto none = Symmetry::Kind::none;
  EXPECT_EQ(kind(Operation::all_reduce, Algorithm::ring, {.size = 6, .count = 13}), none);
  EXPECT_EQ(kind(Operation::all_reduce, Algorithm::recursive_doubling, {.size = 6, .count = 12}), none);
  EXPECT_EQ(kind(Operation::broadcast, Algorithm::binomial, {.size = 8, .count = 8}), none);
  EXPECT_EQ(kind(Operation::scan, Algorithm::linear, {.size = 8, .count = 8}), none);
  const std::vector<std::uint32_t> uneven{0, 0, 0, 1}, mixed{0, 1, 0, 1};
  for (const auto& hosts : {uneven, mixed})
    EXPECT_EQ(kind(Operation::all_reduce, Algorithm::two_level, {.size = 4, .count = 8, .hosts = hosts}),
              none);
}

TEST(Symmetry, FindsTheCountOfWhichAllBlocksAreEqual) {
  const Shape shape{.size = 8, .count = 13};
  EXPECT_EQ(even_count(Operation::all_reduce, Algorithm::ring, shape), 16U);
  EXPECT_EQ(even_count(Operation::all_reduce, Algorithm::recursive_doubling, shape), 13U);
  EXPECT_EQ(even_count(Operation::all_gather, Algorithm::ring, shape), 13U);
}

}  // namespace
}  // namespace parley::schedule
