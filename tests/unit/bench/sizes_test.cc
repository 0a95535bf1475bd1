#include "bench/sizes.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace parley::bench {
namespace {

using Sizes = std::vector<std::size_t>;

TEST(Sizes, ListWithUnits) {
  EXPECT_EQ(parse_sizes("8,1K,64K,1M"), (Sizes{8, 1024, 65536, 1048576}));
  EXPECT_EQ(parse_sizes("3g"), (Sizes{std::size_t{3} << 30}));
}

TEST(Sizes, RangeDoubles) {
  EXPECT_EQ(parse_sizes("8:64"), (Sizes{8, 16, 32, 64}));
  EXPECT_EQ(parse_sizes("8:16M").size(), 22U);
  EXPECT_EQ(parse_sizes("8:16M").back(), std::size_t{16} << 20);
  EXPECT_EQ(parse_sizes("5:5"), (Sizes{5}));
}

TEST(Sizes, RangeEndsAtOrBelowItsLastSize) {
  EXPECT_EQ(parse_sizes("3:20"), (Sizes{3, 6, 12}));
}

TEST(Sizes, ListMayContainRanges) {
  EXPECT_EQ(parse_sizes("1,4:16,1K"), (Sizes{1, 4, 8, 16, 1024}));
}

TEST(Sizes, MalformedPartsAreNamed) {
  for (const char* text : {"", "8,", ",8", "x", "8Q", "8KB", "-8", "1.5K", "8:", ":8", "1:2:3", "0", "0:8",
                           "16:8", "2000G", "99999999999999999999", " 8"}) {
    EXPECT_THROW(parse_sizes(text), std::invalid_argument) << "'" << text << "'";
  }
  try {
    parse_sizes("8,64Q");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("64Q"), std::string::npos) << error.what();
  }
}

TEST(Sizes, FormatIsReadBack) {
  EXPECT_EQ(format_size(8), "8");
  EXPECT_EQ(format_size(1000), "1000");
  EXPECT_EQ(format_size(1536), "1536");
  EXPECT_EQ(format_size(65536), "64K");
  EXPECT_EQ(format_size(std::size_t{16} << 20), "16M");
  EXPECT_EQ(format_size(std::size_t{2} << 30), "2G");
  EXPECT_EQ(spell_size(1000), "1000 B");
  EXPECT_EQ(spell_size(65536), "64 KiB");
  for (const std::size_t bytes : parse_sizes("1:1G"))
    EXPECT_EQ(parse_sizes(format_size(bytes)), Sizes{bytes});
}

}  // namespace
}  // namespace parley::bench
