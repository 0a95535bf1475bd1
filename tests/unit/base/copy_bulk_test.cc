#include "transport/base/copy_bulk.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parley::base {
namespace {

class CopyBulk : public ::testing::Test {
 protected:
  static constexpr std::size_t page = 4096, most = 3 * page;

  CopyBulk() {
    for (std::size_t i = 0; i < from_.size(); ++i) from_[i] = static_cast<std::byte>(i * 7 + i / 256);
  }
  // Where in its page the source begins, and how far behind that the target does.
  void expect_copies(std::size_t bytes, std::size_t place, std::size_t behind) {
    std::vector<std::byte> to(most + 3 * page, std::byte{0xee});
    const std::byte* const source = at_page(from_.data()) + place;
    std::byte* const target = at_page(to.data()) + place + behind;
    copy_bytes(target, source, bytes);
    const auto before = static_cast<std::size_t>(target - to.data());
    for (std::size_t i = 0; i < to.size(); ++i) {
      const bool is_copied = i >= before && i < before + bytes;
      ASSERT_EQ(to[i], is_copied ? source[i - before] : std::byte{0xee})
          << bytes << " bytes, at " << i - before << ", from " << place << ", " << behind << " behind";
    }
  }

 private:
  template <typename Byte>
  static Byte* at_page(Byte* memory) {
    return memory + (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;
  }

  std::vector<std::byte> from_ = std::vector<std::byte>(most + 2 * page);
};

TEST_F(CopyBulk, CopiesToWhereverItLiesBehindTheSource) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{2048}, std::size_t{2049}, page, most - 3})
    for (std::size_t behind = 0; behind < 40; ++behind) expect_copies(bytes, behind * 3, behind);
}

TEST_F(CopyBulk, CopiesEveryLength) {
  for (std::size_t bytes = 2040; bytes < 2200; ++bytes) expect_copies(bytes, 0, 16);
}

TEST(LiesJustBehind, IsToldModuloAPage) {
  EXPECT_FALSE(lies_just_behind(0x10000, 0x10000));
  EXPECT_TRUE(lies_just_behind(0x10001, 0x10000));
  EXPECT_TRUE(lies_just_behind(0x1001f, 0x10000));
  EXPECT_FALSE(lies_just_behind(0x10020, 0x10000));
  EXPECT_FALSE(lies_just_behind(0x10000, 0x10001));
  EXPECT_TRUE(lies_just_behind(0x10000, 0x7fff8ff0));
  EXPECT_TRUE(lies_just_behind(0x7fff8000, 0x10ff0));
}

}  // namespace
}  // namespace parley::base
