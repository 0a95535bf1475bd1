#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "transport/base/copy_few.h"

namespace parley::base {
namespace {

TEST(CopyFew, CopiesAllAndNothingElse) {
  std::array<std::byte, 40> from;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
  for (std::size_t bytes = 0; bytes < from.size(); ++bytes) {
    std::array<std::byte, 42> to{};
    copy_few(to.data() + 1, from.data(), bytes);
    EXPECT_TRUE(std::equal(from.begin(), from.begin() + bytes, to.begin() + 1)) << bytes;
    EXPECT_EQ(std::count(to.begin(), to.end(), std::byte{0}), static_cast<int>(to.size() - bytes)) << bytes;
  }
}

}  // namespace
}  // namespace parley::base
