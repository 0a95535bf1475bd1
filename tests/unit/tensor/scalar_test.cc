#include <gtest/gtest.h>
#include <parley/error.h>
#include <parley/scalar.h>

#include <cmath>
#include <limits>

namespace parley {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <typename T>
std::string refusal(const Scalar& scalar) {
  try {
    (void)scalar.to<T>();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Scalar, KeepsEveryIntegerOf64Bits) {
  for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                   std::int64_t{9007199254740993}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(Scalar(value).to<std::int64_t>(), value);
  EXPECT_THROW(Scalar{std::numeric_limits<std::uint64_t>::max()}, UsageError);
}

TEST(Scalar, RefusesWhatDoesNotFitAnInteger) {
  EXPECT_EQ(Scalar(255).to<std::uint8_t>(), 255);
  EXPECT_EQ(Scalar(-128.0).to<std::int8_t>(), -128);
  EXPECT_EQ(refusal<std::uint8_t>(300), "300 cannot be stored as u8");
  EXPECT_EQ(refusal<std::uint8_t>(-1), "-1 cannot be stored as u8");
  EXPECT_EQ(refusal<std::int32_t>(1.5), "1.5 cannot be stored as i32");
  EXPECT_EQ(refusal<bool>(2), "2 cannot be stored as bool");
  EXPECT_EQ(refusal<std::byte>(256), "256 cannot be stored as bytes");
  EXPECT_EQ(refusal<std::int64_t>(0x1p63), "9223372036854775808 cannot be stored as i64");
  EXPECT_EQ(Scalar(-0x1p63).to<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(refusal<std::int64_t>(std::nan("")), "nan cannot be stored as i64");
  EXPECT_EQ(refusal<std::int64_t>(infinity), "inf cannot be stored as i64");
}

TEST(Scalar, RefusesToOverflowButCarriesInfinityAndNan) {
  EXPECT_EQ(refusal<float16>(65520), "65520 cannot be stored as f16");
  EXPECT_EQ(Scalar(65519).to<float16>().bits(), 0x7bff);
  EXPECT_EQ(refusal<float>(1e39), "1e+39 cannot be stored as f32");
  EXPECT_EQ(refusal<std::complex<float>>(std::complex<double>(0, 1e39)),
            "(0,1e+39) cannot be stored as complex64");
  EXPECT_EQ(Scalar(infinity).to<float16>().bits(), 0x7c00);
  EXPECT_EQ(Scalar(-infinity).to<float>(), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(static_cast<float>(Scalar(std::nan("")).to<bfloat16>())));
}

TEST(Scalar, AnImaginaryPartIsNotDropped) {
  using Complex = std::complex<double>;
  EXPECT_EQ(Scalar(Complex(2, 0)).to<int>(), 2);
  EXPECT_EQ(Scalar(Complex(2, 0)).to<double>(), 2.0);
  EXPECT_EQ(refusal<double>(Complex(2, 1)), "(2,1) cannot be stored as f64");
  EXPECT_EQ(refusal<int>(Complex(2, 1)), "(2,1) cannot be stored as i32");
  EXPECT_EQ(Scalar(Complex(2, -1)).to<std::complex<float>>(), std::complex<float>(2, -1));
  EXPECT_EQ(Scalar(3).to<Complex>(), Complex(3, 0));
}

TEST(Scalar, RoundsOnceToNarrowTypes) {
  // Through f32 this would first become the tie 1 + 2^-11 and then 1.
  EXPECT_EQ(Scalar(1 + 0x1p-11 + 0x1p-40).to<float16>().bits(), 0x3c01);
  EXPECT_EQ(Scalar(1 + 0x1p-11).to<float16>().bits(), 0x3c00);
  EXPECT_EQ(Scalar(-1 - 0x1p-11 - 0x1p-40).to<float16>().bits(), 0xbc01);
  EXPECT_EQ(Scalar(1 + 0x1p-8 + 0x1p-40).to<bfloat16>().bits(), 0x3f81);
  EXPECT_EQ(Scalar(1 + 0x1p-8 - 0x1p-40).to<bfloat16>().bits(), 0x3f80);
  EXPECT_EQ(Scalar(0x1p-25 + 0x1p-60).to<float16>().bits(), 0x0001);
  EXPECT_EQ(Scalar(0x1p-25).to<float16>().bits(), 0x0000);
  // Through f64 these would become ties of f32 and bf16.
  constexpr std::int64_t tie = (1ll << 62) + (1ll << 38);
  EXPECT_EQ(Scalar(tie + 1).to<float>(), 0x1p62f + 0x1p39f);
  EXPECT_EQ(Scalar(tie).to<float>(), 0x1p62f);
  EXPECT_EQ(Scalar(-tie - 1).to<float>(), -0x1p62f - 0x1p39f);
  EXPECT_EQ(static_cast<float>(Scalar((1ll << 62) + (1ll << 54) + 1).to<bfloat16>()), 0x1p62f + 0x1p55f);
  EXPECT_EQ(Scalar(std::numeric_limits<std::int64_t>::max()).to<double>(), 0x1p63);
  EXPECT_EQ(Scalar(std::numeric_limits<std::int64_t>::min()).to<float>(), -0x1p63f);
}

TEST(Scalar, Prints) {
  EXPECT_EQ(Scalar(true).to_string(), "1");
  EXPECT_EQ(Scalar(std::byte{9}).to_string(), "9");
  EXPECT_EQ(Scalar(2.5f).to_string(), "2.5");
  EXPECT_EQ(Scalar(float16(0.5f)).to_string(), "0.5");
  EXPECT_EQ(Scalar(std::complex<float>(1, 2)).to_string(), "(1,2)");
}

}  // namespace
}  // namespace parley
