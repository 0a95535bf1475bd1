#include "api/collective/scratch.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace parley::collective {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// Whether what was given back is what is taken next.
bool is_kept(ScratchPool& pool, ScratchPool::Memory memory, std::size_t bytes) {
  const std::byte* const data = memory.data();
  pool.give(std::move(memory));
  ScratchPool::Memory again = pool.take(bytes);
  const bool is_same = again.data() == data;
  pool.give(std::move(again));
  return is_same;
}

TEST(ScratchPool, GivesABlockAgain) {
  ScratchPool pool;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, mib, 100 * mib})
    EXPECT_TRUE(is_kept(pool, pool.take(bytes), bytes)) << bytes;
}

TEST(ScratchPool, BlocksAreAlignedAndNoneIsOfNothing) {
  ScratchPool pool;
  EXPECT_EQ(pool.take(0).data(), nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.take(300).data()) % ScratchPool::alignment, 0U);
}

TEST(ScratchPool, KeepsSoMuchOfLargeBlocksAndNoMore) {
  ScratchPool pool;
  ScratchPool::Memory larger = pool.take(300 * mib), large = pool.take(256 * mib), small = pool.take(mib);
  pool.give(std::move(larger));
  EXPECT_EQ(pool.kept_bytes(), 0U) << "it is more than all";
  pool.give(std::move(small));
  EXPECT_EQ(pool.kept_bytes(), mib);
  pool.give(std::move(large));
  EXPECT_EQ(pool.kept_bytes(), 256 * mib) << "the last one used, in the place of the others";
  pool.give(pool.take(mib));
  EXPECT_EQ(pool.kept_bytes(), mib);
}

TEST(ScratchPool, KeepsSmallBlocksBesideTheLargest) {
  ScratchPool pool;
  ScratchPool::Memory tiny = pool.take(1000);
  pool.give(pool.take(256 * mib));
  EXPECT_TRUE(is_kept(pool, std::move(tiny), 1000));
  EXPECT_EQ(pool.kept_bytes(), 256 * mib);
}

}  // namespace
}  // namespace parley::collective
