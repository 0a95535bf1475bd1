#include <gtest/gtest.h>
#include <parley/error.h>
#include <parley/shape.h>

#include <limits>
#include <sstream>

namespace parley {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

TEST(Shape, IsMadeOfNumbers) {
  const std::size_t rows = 2;
  const Shape shape{rows, 3};
  ASSERT_EQ(shape.size(), 2u);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[1], 3);
  EXPECT_EQ(shape, Shape(std::vector<std::int64_t>{2, 3}));
  EXPECT_NE(shape, (Shape{3, 2}));
  EXPECT_NE((Shape{2}), (Shape{2, 0}));
  EXPECT_EQ(Shape(5), Shape{5});
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape{}.numel(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).numel(), 24);
  EXPECT_EQ((Shape{2, 0, 4}).numel(), 0);
  EXPECT_EQ(Shape{largest}.numel(), largest);
}

TEST(Shape, RefusesAProductBeyond63Bits) {
  EXPECT_THROW((void)(Shape{largest, 2}).numel(), UsageError);
  EXPECT_THROW((void)(Shape{1ll << 32, 1ll << 31}).numel(), UsageError);
  EXPECT_EQ((Shape{1ll << 32, 1ll << 30}).numel(), 1ll << 62);
  // Zero elements are no excuse: the strides would overflow.
  EXPECT_THROW((void)(Shape{largest, 2, 0}).numel(), UsageError);
}

TEST(Shape, RefusesBadSizes) {
  EXPECT_THROW(Shape{-1}, UsageError);
  EXPECT_THROW((Shape{2, -3}), UsageError);
  EXPECT_THROW(Shape{std::numeric_limits<std::uint64_t>::max()}, UsageError);
  EXPECT_NO_THROW(Shape(std::vector<std::int64_t>(8, 1)));
  EXPECT_THROW(Shape(std::vector<std::int64_t>(9, 1)), UsageError);
  static_assert(!std::is_constructible_v<Shape, bool>);
  static_assert(!std::is_constructible_v<Shape, int, int, int, int, int, int, int, int, int>);
}

TEST(Shape, Prints) {
  std::ostringstream out;
  out << Shape{} << Shape{7} << Shape{2, 3};
  EXPECT_EQ(out.str(), "[][7][2, 3]");
}

}  // namespace
}  // namespace parley
