#include "api/collective/fold_shown.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace parley::collective {
namespace {

using namespace std::chrono_literals;
using base::StoreChoice;

constexpr std::size_t timed_bytes = StoreChoice::most_telling;

// As it is where lines come slowly from other cores, or, with `next`, where the next copy is to be timed.
StoreChoice choice_of(StoreChoice::Way next) {
  StoreChoice choice;
  if (next == StoreChoice::Way::past_caches) {
    for (int i = 0; i < 3; ++i) choice.note(1s, timed_bytes, timed_bytes);
  } else if (next == StoreChoice::Way::cached_timed) {
    for (int i = 1; i < StoreChoice::copies_per_timing; ++i)
      EXPECT_EQ(choice.next(), StoreChoice::Way::cached);
  }
  return choice;
}

class FoldShown : public ::testing::TestWithParam<StoreChoice::Way> {
 protected:
  // Of two operands, to the first one or elsewhere, so many bytes behind the start of a vector.
  void expect_sums(std::size_t count, bool in_place, std::size_t behind) {
    const tensor::Reduction sum(ReduceOp::sum, DType::i32);
    std::vector<std::int32_t> first(count + 2), second(count), elsewhere(count + 2, -1);
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<std::int32_t>(3 * i);
    for (std::size_t i = 0; i < count; ++i) second[i] = static_cast<std::int32_t>(i * i % 1001);
    std::byte* const own = reinterpret_cast<std::byte*>(first.data()) + 4 * behind;
    std::byte* const to = in_place ? own : reinterpret_cast<std::byte*>(elsewhere.data()) + 4 * behind;
    const std::vector<std::int32_t> before = first;
    std::array<const void*, 2> operands{own, second.data()};
    StoreChoice stores = choice_of(GetParam());
    fold_shown(stores, sum, to, operands, count);
    const std::vector<std::int32_t>& result = in_place ? first : elsewhere;
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(result[behind + i], before[behind + i] + second[i]) << i << " of " << count;
    ASSERT_EQ(result[behind + count], in_place ? before[behind + count] : -1) << "behind the end";
    if (behind != 0) {
      ASSERT_EQ(result[0], in_place ? before[0] : -1);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, FoldShown,
                         ::testing::Values(StoreChoice::Way::cached, StoreChoice::Way::cached_timed,
                                           StoreChoice::Way::past_caches));

TEST_P(FoldShown, GivesTheSumsWhateverTheWay) {
  for (const std::size_t count : {0, 1, 255, 256, 257, 4095, 4096, 4097, 4096 + 255, 3 * 4096 + 300})
    for (const bool in_place : {false, true})
      for (const std::size_t behind : {0, 1}) expect_sums(count, in_place, behind);
}

}  // namespace
}  // namespace parley::collective
