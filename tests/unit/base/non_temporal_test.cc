#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/base/non_temporal.h"

namespace parley::base {
namespace {

TEST(CopyPastCaches, CopiesEveryLengthFromEverywhere) {
  std::array<std::byte, 400> from;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t bytes = 0; bytes <= 320; ++bytes) {
    for (const std::size_t offset : {0, 1, 8, 15, 63}) {
      alignas(64) std::array<std::byte, 448> to;
      to.fill(std::byte{0xee});
      copy_past_caches(to.data(), from.data() + offset, bytes);
      for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(to[i], from[i + offset]) << bytes << ' ' << offset;
      // Whole lines, and nothing behind them.
      for (std::size_t i = (bytes + 63) / 64 * 64; i < to.size(); ++i)
        ASSERT_EQ(to[i], std::byte{0xee}) << bytes << ' ' << offset;
    }
  }
}

}  // namespace
}  // namespace parley::base
