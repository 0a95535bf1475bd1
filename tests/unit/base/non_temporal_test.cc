#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "transport/base/non_temporal.h"

namespace parley::base {
namespace {

TEST(CopyPastCaches, CopiesEveryLengthFromAndToEverywhere) {
  std::array<std::byte, 300> from;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t bytes = 0; bytes <= 200; ++bytes) {
    for (std::size_t place = 0; place < 64; place += 7) {
      alignas(64) std::array<std::byte, 320> to;
      to.fill(std::byte{0xee});
      const std::size_t offset = bytes % 19;
      copy_past_caches(to.data() + place, from.data() + offset, bytes);
      for (std::size_t i = 0; i < to.size(); ++i) {
        const bool is_copied = i >= place && i < place + bytes;
        ASSERT_EQ(to[i], is_copied ? from[i - place + offset] : std::byte{0xee}) << bytes << ' ' << place;
      }
    }
  }
}

}  // namespace
}  // namespace parley::base
