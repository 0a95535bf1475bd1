#include <gtest/gtest.h>
#include <parley/float16.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace parley {
namespace {

// The value of a number with a sign bit, `exponent_bits` and `mantissa_bits`, by the definition of IEEE 754.
double value_by_definition(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = static_cast<int>(bits) & ((1 << mantissa_bits) - 1);
  const double sign = (bits >> (exponent_bits + mantissa_bits)) & 1 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

struct Half {
  using Type = float16;
  static constexpr int exponent_bits = 5;
  static constexpr int mantissa_bits = 10;
  static constexpr std::uint16_t infinity = 0x7c00;
};
struct Brain {
  using Type = bfloat16;
  static constexpr int exponent_bits = 8;
  static constexpr int mantissa_bits = 7;
  static constexpr std::uint16_t infinity = 0x7f80;
};

template <typename Format>
class SixteenBits : public testing::Test {
 protected:
  static double value(std::uint16_t bits) {
    return value_by_definition(bits, Format::exponent_bits, Format::mantissa_bits);
  }
  static std::uint16_t round(float number) { return typename Format::Type(number).bits(); }
};
using Formats = testing::Types<Half, Brain>;
TYPED_TEST_SUITE(SixteenBits, Formats);

TYPED_TEST(SixteenBits, AllValuesConvertToFloatAndBack) {
  using Type = typename TypeParam::Type;
  for (std::uint32_t i = 0; i <= 0xffff; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float number = Type::from_bits(bits);
    const double expected = this->value(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(number)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(Type(number)))) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(number), expected) << bits;
    ASSERT_EQ(std::signbit(number), (bits & 0x8000) != 0) << bits;
    ASSERT_EQ(this->round(number), bits);
  }
}

// Between each two neighbours: the middle goes to the even one, what lies beside it to the nearer one. With
// the test above that is every case of rounding, the border to infinity included.
TYPED_TEST(SixteenBits, RoundsToTheNearestAndTiesToEven) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (std::uint16_t low = 0; low < TypeParam::infinity; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const double below = this->value(low);
    // The neighbour of the largest number lies where the next one would be, were the exponent wide enough.
    const double above = high == TypeParam::infinity ? 2 * below - this->value(low - 1) : this->value(high);
    const auto middle = static_cast<float>((below + above) / 2);
    const std::uint16_t even = low % 2 == 0 ? low : high;
    ASSERT_EQ(this->round(middle), even) << low;
    ASSERT_EQ(this->round(std::nextafter(middle, 0.0f)), low) << low;
    ASSERT_EQ(this->round(std::nextafter(middle, infinity)), high) << low;
    ASSERT_EQ(this->round(-middle), even | 0x8000) << low;
    ASSERT_EQ(this->round(std::nextafter(-middle, 0.0f)), low | 0x8000) << low;
    ASSERT_EQ(this->round(std::nextafter(-middle, -infinity)), high | 0x8000) << low;
  }
}

TYPED_TEST(SixteenBits, InfinityOverflowAndNan) {
  using Type = typename TypeParam::Type;
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(this->round(infinity), TypeParam::infinity);
  EXPECT_EQ(this->round(-infinity), TypeParam::infinity | 0x8000);
  EXPECT_EQ(this->round(std::numeric_limits<float>::max()), TypeParam::infinity);
  EXPECT_TRUE(std::isnan(static_cast<float>(Type(std::nanf("")))));
  // NaNs whose payload lies in the bits that are dropped must not become infinities.
  for (const std::uint32_t bits : {0x7f800001u, 0xff800001u, 0x7fc00000u, 0x7fffffffu, 0xffffffffu}) {
    const Type converted(std::bit_cast<float>(bits));
    EXPECT_TRUE(std::isnan(static_cast<float>(converted))) << bits;
    EXPECT_EQ((converted.bits() & 0x8000) != 0, (bits >> 31) != 0) << bits;
  }
}

TYPED_TEST(SixteenBits, TinyNumbersBecomeZeroWithTheirSign) {
  EXPECT_EQ(this->round(0.0f), 0);
  EXPECT_EQ(this->round(-0.0f), 0x8000);
  EXPECT_EQ(this->round(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(this->round(-std::numeric_limits<float>::denorm_min()), 0x8000);
}

TEST(Float16, KnownValues) {
  EXPECT_EQ(float16(1.0f).bits(), 0x3c00);
  EXPECT_EQ(float16(-2.0f).bits(), 0xc000);
  EXPECT_EQ(float16(65504.0f).bits(), 0x7bff);
  EXPECT_EQ(float16(65519.996f).bits(), 0x7bff);
  EXPECT_EQ(float16(65520.0f).bits(), 0x7c00);
  EXPECT_EQ(float16(0x1p-24f).bits(), 0x0001);
  EXPECT_EQ(float16(0x1p-25f).bits(), 0x0000);
  EXPECT_EQ(float16(0x1p-14f).bits(), 0x0400);
  static_assert(float16(0.1f).bits() == 0x2e66);
  EXPECT_EQ(float16{}.bits(), 0);
}

TEST(BFloat16, KnownValues) {
  EXPECT_EQ(bfloat16(1.0f).bits(), 0x3f80);
  EXPECT_EQ(bfloat16(-2.0f).bits(), 0xc000);
  static_assert(bfloat16(3.14159265f).bits() == 0x4049);
  EXPECT_EQ(bfloat16{}.bits(), 0);
}

TEST(Float16, ComparesAndComputesAsFloat) {
  EXPECT_EQ(float16(1.5f) + float16(2.0f), 3.5f);
  EXPECT_LT(bfloat16(1.0f), bfloat16(2.0f));
  EXPECT_EQ(float16::from_bits(0x8000), float16{});
}

}  // namespace
}  // namespace parley
