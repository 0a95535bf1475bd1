#include <gtest/gtest.h>
#include <parley/tensor.h>

#include <limits>
#include <sstream>
#include <vector>

namespace parley {
namespace {

template <typename T>
std::string print(std::vector<T> values, const Shape& shape = {}) {
  const Tensor tensor(values);
  std::ostringstream out;
  out << (shape.size() == 0 ? tensor : tensor.reshape(shape));
  return out.str();
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Print, WholeNumbersHaveAPointOnly) {
  EXPECT_EQ(print<float>({1, 2, 3}), "tensor([1., 2., 3.], dtype=f32)");
  EXPECT_EQ(print<double>({1, -10}), "tensor([  1., -10.], dtype=f64)");
  EXPECT_EQ(print<float>({0, -0.0f}), "tensor([ 0., -0.], dtype=f32)");
}

TEST(Print, ASingleElementGoesWithoutItsType) {
  EXPECT_EQ(print<float>({42}), "tensor([42.])");
  EXPECT_EQ(print<int>({-7}), "tensor([-7])");
  EXPECT_EQ(print<float>({2.5f}), "tensor([2.5000])");
  EXPECT_EQ(Tensor::full({}, 1).to_string(), "tensor(1.)");
  EXPECT_EQ(Tensor::full({1, 1}, 1).to_string(), "tensor([[1.]])");
}

TEST(Print, FractionsHaveFourDecimals) {
  EXPECT_EQ(print<float>({1.5f, 10}), "tensor([ 1.5000, 10.0000], dtype=f32)");
  EXPECT_EQ(print<double>({0.1, -0.00123}), "tensor([ 0.1000, -0.0012], dtype=f64)");
}

TEST(Print, WideRangesAreScientific) {
  EXPECT_EQ(print<float>({1, 10000}), "tensor([1.0000e+00, 1.0000e+04], dtype=f32)");
  EXPECT_EQ(print<double>({1e9}), "tensor([1.0000e+09])");
  EXPECT_EQ(print<double>({1e-5, -2e-5}), "tensor([ 1.0000e-05, -2.0000e-05], dtype=f64)");
  EXPECT_EQ(print<double>({std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()}),
            "tensor([4.9407e-324, 1.7977e+308], dtype=f64)");
}

TEST(Print, InfinityAndNanDoNotDisturbTheRest) {
  EXPECT_EQ(print<double>({nan, inf, -inf, 1}), "tensor([ nan,  inf, -inf,   1.], dtype=f64)");
  EXPECT_EQ(print<double>({nan}), "tensor([nan])");
}

TEST(Print, IntegersBooleansAndBytes) {
  EXPECT_EQ(print<std::int64_t>({std::numeric_limits<std::int64_t>::min(), 1}),
            "tensor([-9223372036854775808,                    1], dtype=i64)");
  EXPECT_EQ(print<std::uint8_t>({1, 255}), "tensor([  1, 255], dtype=u8)");
  EXPECT_EQ(Tensor::arange(2, DType::boolean).to_string(), "tensor([false,  true], dtype=bool)");
  EXPECT_EQ(print<std::byte>({std::byte{0}, std::byte{0xaf}}), "tensor([0x00, 0xaf], dtype=bytes)");
  EXPECT_EQ(Tensor::zeros(2, DType::f8_e4m3).to_string(), "tensor([0x00, 0x00], dtype=f8_e4m3)");
}

TEST(Print, SixteenBitFloats) {
  EXPECT_EQ(Tensor::full(2, 0.1, DType::f16).to_string(), "tensor([0.1000, 0.1000], dtype=f16)");
  EXPECT_EQ(Tensor::full(2, 3, DType::bf16).to_string(), "tensor([3., 3.], dtype=bf16)");
}

TEST(Print, ComplexNumbers) {
  using Complex = std::complex<float>;
  EXPECT_EQ(print<Complex>({Complex(1, 2), Complex(3, -4)}), "tensor([1.+2.j, 3.-4.j], dtype=complex64)");
  EXPECT_EQ(print<Complex>({Complex(1.5f, 2)}), "tensor([1.5000+2.j])");
}

TEST(Print, Pairs) {
  using Single = ValueIndex<float, std::int32_t>;
  using Whole = ValueIndex<std::int64_t, std::int64_t>;
  EXPECT_EQ(print<Single>({{1.5f, 3}, {-2, 40}}), "tensor([  (1.5000, 3), (-2.0000, 40)], dtype=f32_i32)");
  EXPECT_EQ(print<Whole>({{-1, 2}}), "tensor([(-1, 2)])");
}

TEST(Print, NoElements) {
  EXPECT_EQ(print<float>({}), "tensor([], dtype=f32)");
  EXPECT_EQ(Tensor::zeros({0, 3}).to_string(), "tensor([], shape=[0, 3], dtype=f32)");
  EXPECT_EQ(Tensor().to_string(), "tensor([], dtype=bytes)");
}

TEST(Print, DimensionsNest) {
  EXPECT_EQ(Tensor::arange({2, 3}, DType::i32).to_string(),
            "tensor([[0, 1, 2],\n"
            "        [3, 4, 5]], dtype=i32)");
  EXPECT_EQ(Tensor::arange({2, 2, 2}).to_string(),
            "tensor([[[0., 1.],\n"
            "         [2., 3.]],\n"
            "\n"
            "        [[4., 5.],\n"
            "         [6., 7.]]], dtype=f32)");
}

TEST(Print, LongLinesWrap) {
  EXPECT_EQ(Tensor::full(30, 1000, DType::i32).to_string(),
            "tensor([1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000,\n"
            "        1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000,\n"
            "        1000, 1000, 1000, 1000, 1000, 1000], dtype=i32)");
}

TEST(Print, ManyElementsAreShortened) {
  EXPECT_EQ(Tensor::arange(1001, DType::i32).to_string(),
            "tensor([   0,    1,    2,  ...,  998,  999, 1000], dtype=i32)");
  EXPECT_EQ(Tensor::arange(2000).to_string(),
            "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,\n"
            "        1.9990e+03], dtype=f32)");
  EXPECT_EQ(Tensor::arange({500, 3}, DType::i32).to_string(),
            "tensor([[   0,    1,    2],\n"
            "        [   3,    4,    5],\n"
            "        [   6,    7,    8],\n"
            "        ...,\n"
            "        [1491, 1492, 1493],\n"
            "        [1494, 1495, 1496],\n"
            "        [1497, 1498, 1499]], dtype=i32)");
  EXPECT_EQ(Tensor::full({100, 100}, 1, DType::u8).to_string(),
            "tensor([[1, 1, 1,  ..., 1, 1, 1],\n"
            "        [1, 1, 1,  ..., 1, 1, 1],\n"
            "        [1, 1, 1,  ..., 1, 1, 1],\n"
            "        ...,\n"
            "        [1, 1, 1,  ..., 1, 1, 1],\n"
            "        [1, 1, 1,  ..., 1, 1, 1],\n"
            "        [1, 1, 1,  ..., 1, 1, 1]], dtype=u8)");
}

}  // namespace
}  // namespace parley
