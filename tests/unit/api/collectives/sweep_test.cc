// Every collective over ranks that are threads, in all the ways it can be called.
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <memory>

#include "api/collective/channel.h"
#include "api/collective_call.h"
#include "api/group_state.h"
#include "tests/sanitizer.h"
#include "tests/unit/api/collectives/every_collective.h"

namespace parley {
namespace {

using testing::Case;
using testing::expect_every_collective;
using testing::expect_uneven_collectives;
using testing::run_world;

// From now on the group's collectives take `algorithm` wherever it can do them. By all ranks.
void force(ProcessGroup& group, schedule::Algorithm algorithm, schedule::Overrides& overrides) {
  for (const schedule::Operation operation : schedule::all_operations()) overrides.set(operation, algorithm);
  group.barrier();
  detail::GroupState& state = *detail::GroupAccess::state(group);
  state.world->engine->locked([&](transport::Messenger&) {
    collective::Team team = detail::channel_of(state).team();
    state.channel =
        std::make_unique<collective::Channel>(*state.world->engine, state.all_contexts.collectives,
                                              std::move(team), overrides, state.world->arena != nullptr);
  });
  group.barrier();
}

class EachGroupSize : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Collectives, EachGroupSize, ::testing::Range(1, sanitizer::is_on ? 5 : 8));

TEST_P(EachGroupSize, GivesTheRightElementsForAllSizesAndRootsInPlaceAndNot) {
  run_world(GetParam(), [](ProcessGroup& group) {
    for (const std::size_t count : {0, 1, 3, 1000})
      for (int root = 0; root < group.size(); ++root)
        for (const bool in_place : {false, true})
          expect_every_collective(
              group, {.count = count, .root = root, .in_place = in_place, .async_op = root % 2 == 1});
  });
}

TEST_P(EachGroupSize, GivesTheRightElementsWhereDataGoInPieces) {
  run_world(GetParam(), [](ProcessGroup& group) {
    for (const bool in_place : {false, true})
      expect_every_collective(
          group, {.count = 100'003, .root = group.size() - 1, .in_place = in_place, .async_op = !in_place});
  });
}

TEST_P(EachGroupSize, GivesTheRightElementsOfAllTypes) {
  run_world(GetParam(), [](ProcessGroup& group) {
    for (const DType dtype : {DType::u8, DType::i8, DType::i16, DType::i32, DType::i64, DType::f16,
                              DType::bf16, DType::f64, DType::complex64, DType::complex128})
      expect_every_collective(group, {.count = 5, .dtype = dtype});
  });
}

TEST_P(EachGroupSize, TakesBlocksThatDifferInSize) {
  run_world(GetParam(), [](ProcessGroup& group) {
    for (const std::size_t count : {1, 7, 30'000})
      for (const bool in_place : {false, true})
        expect_uneven_collectives(
            group, {.count = count, .root = group.size() / 2, .in_place = in_place, .async_op = count == 7});
  });
}

TEST_P(EachGroupSize, GivesTheRightElementsByEveryAlgorithm) {
  run_world(GetParam(), [](ProcessGroup& group) {
    schedule::Overrides overrides;
    for (const schedule::Algorithm algorithm : schedule::all_algorithms()) {
      SCOPED_TRACE(schedule::name(algorithm));
      force(group, algorithm, overrides);
      for (const std::size_t count : {1, 10, 5001})
        expect_every_collective(
            group,
            {.count = count, .root = group.size() - 1, .in_place = count == 10, .async_op = count == 1});
      expect_uneven_collectives(group, {.count = 11});
    }
  });
}

}  // namespace
}  // namespace parley
