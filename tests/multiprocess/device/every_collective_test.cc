// Every collective between processes, of memory of the host and of devices, in all the ways it can be called.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/sanitizer.h"
#include "tests/unit/api/collectives/every_collective.h"

namespace parley::testing {
namespace {

constexpr Device on_device{Device::cuda, 0};

// `calls(world)` by so many ranks that share a device, whose expectations all hold.
template <typename Calls>
void expect_of_ranks(int ranks, const Calls& calls) {
  const int code = run_ranks(ranks, [&](int, int) {
    DeviceRank device;
    ProcessGroup world = init();
    calls(world);
    world.barrier();
    expect(!::testing::Test::HasFailure(), "every result is right");
    destroy();
  });
  EXPECT_EQ(code, 0);
}

class DeviceCollectiveSuite : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(OfSoManyRanks, DeviceCollectiveSuite,
                         ::testing::ValuesIn(sanitizer::is_on ? std::vector{2, 3} : std::vector{2, 3, 4}));

TEST_P(DeviceCollectiveSuite, GivesTheRightElementsForAllSizesAndRootsInPlaceAndNot) {
  expect_of_ranks(GetParam(), [](ProcessGroup& world) {
    for (const std::size_t count : {0, 1, 1000})
      for (int root = 0; root < world.size(); ++root)
        for (const bool in_place : {false, true})
          expect_every_collective(world, {.count = count,
                                          .root = root,
                                          .in_place = in_place,
                                          .async_op = root % 2 == 1,
                                          .device = on_device});
  });
}

TEST_P(DeviceCollectiveSuite, GivesTheRightElementsWhereDataGoInPieces) {
  expect_of_ranks(GetParam(), [](ProcessGroup& world) {
    for (const bool in_place : {false, true})
      expect_every_collective(world, {.count = in_place ? 70'001U : 300'001U,  // 1.2 MB of each rank
                                      .root = world.size() - 1,
                                      .in_place = in_place,
                                      .async_op = in_place,
                                      .device = on_device});
  });
}

TEST_P(DeviceCollectiveSuite, GivesTheRightElementsOfManyTypes) {
  expect_of_ranks(GetParam(), [](ProcessGroup& world) {
    for (const DType dtype :
         {DType::u8, DType::i16, DType::i64, DType::f16, DType::bf16, DType::f64, DType::complex64})
      expect_every_collective(world, {.count = 5, .dtype = dtype, .root = 1, .device = on_device});
  });
}

TEST_P(DeviceCollectiveSuite, TakesBlocksThatDifferInSize) {
  expect_of_ranks(GetParam(), [](ProcessGroup& world) {
    for (const std::size_t count : {1, 7, 30'000})
      for (const bool in_place : {false, true})
        expect_uneven_collectives(world, {.count = count,
                                          .root = world.size() / 2,
                                          .in_place = in_place,
                                          .async_op = count == 7,
                                          .device = on_device});
  });
}

// One after the other, so that what one has left behind is there when another one comes, which is of other
// memory, another size or another group; and barriers, which have no memory.
TEST_P(DeviceCollectiveSuite, GoesOnFromAnyCallToAnyOther) {
  constexpr std::uint64_t seed = 5;
  constexpr std::array<std::size_t, 7> counts{0, 1, 3, 14, 100, 1000, 20'001};
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  expect_of_ranks(GetParam(), [&](ProcessGroup& world) {
    ProcessGroup twin = world.dup();
    Random random(seed);  // all ranks make the same choices
    for (int round = 0; round < (long_tests() ? 500 : 15); ++round) {
      ProcessGroup& group = random.one_in(3) ? twin : world;
      const Case of{.count = counts[random.below(counts.size())],
                    .root = static_cast<int>(random.below(static_cast<std::size_t>(world.size()))),
                    .in_place = random.one_in(2),
                    .async_op = random.one_in(2),
                    .device = random.one_in(3) ? Device{} : on_device};
      if (random.one_in(3))
        expect_uneven_collectives(group, of);
      else
        expect_every_collective(group, of);
      if (random.one_in(2)) group.barrier();
    }
  });
}

}  // namespace
}  // namespace parley::testing
