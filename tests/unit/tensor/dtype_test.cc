#include <gtest/gtest.h>
#include <parley/device.h>
#include <parley/dtype.h>

#include <set>
#include <sstream>
#include <string>

namespace parley {
namespace {

template <typename T>
void expect_dtype(DType dtype, std::string_view text) {
  static_assert(has_dtype<T>);
  EXPECT_EQ(dtype_of<T>, dtype);
  EXPECT_EQ(size_of(dtype), sizeof(T));
  EXPECT_EQ(name(dtype), text);
}

TEST(DType, KnowsTypeSizeAndName) {
  expect_dtype<std::byte>(DType::bytes, "bytes");
  expect_dtype<bool>(DType::boolean, "bool");
  expect_dtype<std::uint8_t>(DType::u8, "u8");
  expect_dtype<std::int8_t>(DType::i8, "i8");
  expect_dtype<char>(DType::u8, "u8");
  expect_dtype<std::int16_t>(DType::i16, "i16");
  expect_dtype<std::int32_t>(DType::i32, "i32");
  expect_dtype<std::int64_t>(DType::i64, "i64");
  expect_dtype<long long>(DType::i64, "i64");
  expect_dtype<float16>(DType::f16, "f16");
  expect_dtype<bfloat16>(DType::bf16, "bf16");
  expect_dtype<float>(DType::f32, "f32");
  expect_dtype<double>(DType::f64, "f64");
  expect_dtype<std::complex<float>>(DType::complex64, "complex64");
  expect_dtype<std::complex<double>>(DType::complex128, "complex128");
  expect_dtype<ValueIndex<float, std::int32_t>>(DType::f32_i32, "f32_i32");
  expect_dtype<ValueIndex<double, std::int64_t>>(DType::f64_i64, "f64_i64");
  expect_dtype<ValueIndex<std::int32_t, std::int32_t>>(DType::i32_i32, "i32_i32");
  expect_dtype<ValueIndex<std::int64_t, std::int64_t>>(DType::i64_i64, "i64_i64");
}

TEST(DType, TheF8KindsAreOneByte) {
  EXPECT_EQ(size_of(DType::f8_e4m3), 1u);
  EXPECT_EQ(size_of(DType::f8_e5m2), 1u);
  EXPECT_EQ(name(DType::f8_e4m3), "f8_e4m3");
  EXPECT_EQ(name(DType::f8_e5m2), "f8_e5m2");
}

TEST(DType, OtherTypesHaveNone) {
  static_assert(!has_dtype<wchar_t> && !has_dtype<char16_t> && !has_dtype<std::uint32_t> &&
                !has_dtype<std::string>);
  static_assert(!has_dtype<const float> && !has_dtype<float*> && !has_dtype<long double>);
}

TEST(DType, NamesAreDistinctAndANumberFromTheWireIsHarmless) {
  std::set<std::string_view> names;
  for (int code = 0; code < dtype_count; ++code) names.insert(name(static_cast<DType>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(dtype_count));
  EXPECT_EQ(names.count("unknown"), 0u);
  for (const int code : {dtype_count, 255}) {
    EXPECT_EQ(name(static_cast<DType>(code)), "unknown");
    EXPECT_EQ(size_of(static_cast<DType>(code)), 0u);
  }
}

TEST(DType, NumbersOnTheWireStay) {
  EXPECT_EQ(static_cast<int>(DType::bytes), 0);
  EXPECT_EQ(static_cast<int>(DType::i64), 6);
  EXPECT_EQ(static_cast<int>(DType::f32), 9);
  EXPECT_EQ(static_cast<int>(DType::f8_e5m2), 14);
  EXPECT_EQ(static_cast<int>(DType::i64_i64), 18);
}

TEST(Device, HasAName) {
  std::ostringstream out;
  out << Device{} << ' ' << Device{Device::cuda, 1} << ' ' << DType::f32;
  EXPECT_EQ(out.str(), "cpu cuda:1 f32");
  EXPECT_TRUE(Device{}.is_cpu());
  EXPECT_FALSE((Device{Device::cuda, 0}.is_cpu()));
  EXPECT_EQ((Device{Device::cuda, 1}), (Device{Device::cuda, 1}));
  EXPECT_NE((Device{Device::cuda, 1}), (Device{Device::cuda, 0}));
}

}  // namespace
}  // namespace parley
