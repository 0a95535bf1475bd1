#include <gtest/gtest.h>
#include <parley/error.h>
#include <parley/tensor.h>

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace parley {
namespace {

template <typename Fn>
std::string message_of(Fn fn) {
  try {
    (void)fn();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

// What a call like send(tensor) accepts.
static_assert(std::is_convertible_v<std::vector<float>&, Tensor>);
static_assert(std::is_convertible_v<const std::vector<float>&, Tensor>);
static_assert(std::is_convertible_v<std::span<const int>, Tensor>);
static_assert(std::is_convertible_v<std::array<double, 3>&, Tensor>);
static_assert(std::is_convertible_v<float (&)[4], Tensor>);
static_assert(!std::is_constructible_v<Tensor, std::vector<float>>, "a temporary would dangle");
static_assert(!std::is_constructible_v<Tensor, std::vector<bool>&>, "its elements are bits");
static_assert(!std::is_constructible_v<Tensor, std::vector<std::string>&>);
static_assert(std::is_convertible_v<std::string&, Tensor>);
static_assert(std::is_convertible_v<const std::string&, Tensor>);
static_assert(std::is_convertible_v<std::string_view, Tensor>);
static_assert(std::is_convertible_v<std::vector<char>&, Tensor>);
static_assert(!std::is_constructible_v<Tensor, std::string>, "a temporary would dangle");

TEST(TensorView, SeesAVector) {
  std::vector<float> numbers = {1, 2, 3};
  const Tensor tensor(numbers);
  EXPECT_EQ(tensor.dtype(), DType::f32);
  EXPECT_EQ(tensor.shape(), Shape{3});
  EXPECT_EQ(tensor.strides(), Shape{1});
  EXPECT_EQ(tensor.ndim(), 1);
  EXPECT_EQ(tensor.numel(), 3u);
  EXPECT_EQ(tensor.bytes(), 12u);
  EXPECT_EQ(tensor.device(), Device{});
  EXPECT_TRUE(tensor.is_contiguous());
  EXPECT_FALSE(tensor.is_owning());
  EXPECT_EQ(tensor.owner(), nullptr);
  EXPECT_EQ(static_cast<const void*>(tensor.data()), numbers.data());
  tensor.data_as<float>()[1] = 20;
  EXPECT_EQ(numbers[1], 20);
}

TEST(TensorView, EveryTypeKeepsItsDType) {
  const auto dtype_of_view = [](auto value) {
    std::array<decltype(value), 2> pair{value, value};
    const Tensor tensor(pair);
    EXPECT_EQ(tensor.bytes(), sizeof(pair));
    return tensor.dtype();
  };
  EXPECT_EQ(dtype_of_view(std::byte{}), DType::bytes);
  EXPECT_EQ(dtype_of_view(true), DType::boolean);
  EXPECT_EQ(dtype_of_view(std::uint8_t{}), DType::u8);
  EXPECT_EQ(dtype_of_view(std::int8_t{}), DType::i8);
  EXPECT_EQ(dtype_of_view(std::int16_t{}), DType::i16);
  EXPECT_EQ(dtype_of_view(std::int32_t{}), DType::i32);
  EXPECT_EQ(dtype_of_view(std::int64_t{}), DType::i64);
  EXPECT_EQ(dtype_of_view(float16{}), DType::f16);
  EXPECT_EQ(dtype_of_view(bfloat16{}), DType::bf16);
  EXPECT_EQ(dtype_of_view(0.0f), DType::f32);
  EXPECT_EQ(dtype_of_view(0.0), DType::f64);
  EXPECT_EQ(dtype_of_view(std::complex<float>{}), DType::complex64);
  EXPECT_EQ(dtype_of_view(std::complex<double>{}), DType::complex128);
}

// Bytes 128 to 255 are the same in u8 and in char, whatever the sign of char.
TEST(TensorView, TextIsU8) {
  std::string text = "a\xff";
  const Tensor tensor(text);
  EXPECT_EQ(tensor.dtype(), DType::u8);
  EXPECT_EQ(tensor.bytes(), 2u);
  EXPECT_FALSE(tensor.is_read_only());
  EXPECT_EQ(tensor.to_string(), "tensor([ 97, 255], dtype=u8)");
  EXPECT_EQ(tensor.data_as<std::uint8_t>()[1], 255);
  EXPECT_EQ(tensor.data_as<char>()[1], '\xff');
  EXPECT_EQ(tensor.select(0, 1).item<char>(), '\xff');
  tensor.fill('\xfe');
  EXPECT_EQ(text, "\xfe\xfe");
  EXPECT_THROW((void)tensor.data_as<std::int8_t>(), UsageError);
  EXPECT_THROW((void)Scalar(256).to<char>(), UsageError);
  EXPECT_THROW((void)Scalar(-1).to<char>(), UsageError);
  EXPECT_TRUE(Tensor(std::string_view(text)).is_read_only());
  EXPECT_EQ(Tensor("abc").bytes(), 4u) << "with the zero at its end";
}

TEST(TensorView, OfConstElementsIsReadOnly) {
  const std::vector<int> numbers = {1, 2};
  for (const Tensor& tensor :
       {Tensor(numbers), Tensor(std::span(numbers)), Tensor::from_blob(numbers.data(), 2, DType::i32)}) {
    EXPECT_TRUE(tensor.is_read_only());
    EXPECT_EQ(static_cast<const void*>(tensor.data()), numbers.data());
    EXPECT_EQ(tensor.data_as<const int>()[1], 2);
    EXPECT_EQ(message_of([&] { return tensor.mutable_data(); }),
              "this tensor is read-only: it views const elements");
    EXPECT_THROW((void)tensor.data_as<int>(), UsageError);
    EXPECT_THROW(tensor.fill(0), UsageError);
    EXPECT_TRUE(tensor.narrow(0, 0, 1).is_read_only());
    EXPECT_FALSE(tensor.clone().is_read_only());
  }
  EXPECT_EQ(numbers, (std::vector<int>{1, 2}));
}

TEST(TensorView, ConstOfTheHandleIsNotConstOfTheElements) {
  int number = 1;
  const Tensor tensor(std::span<int>(&number, 1));
  tensor.fill(5);
  EXPECT_EQ(number, 5);
}

TEST(TensorView, BytesHaveNoType) {
  std::uint32_t raw = 0;
  const Tensor tensor = Tensor::bytes(&raw, sizeof(raw));
  EXPECT_EQ(tensor.dtype(), DType::bytes);
  EXPECT_EQ(tensor.bytes(), 4u);
  EXPECT_FALSE(tensor.is_read_only());
  tensor.fill(0xff);
  EXPECT_EQ(raw, 0xffffffffu);
  const std::uint32_t fixed = 7;
  EXPECT_TRUE(Tensor::bytes(&fixed, sizeof(fixed)).is_read_only());
}

TEST(TensorView, MayHaveNoElements) {
  std::vector<double> none;
  const Tensor tensor(none);
  EXPECT_EQ(tensor.numel(), 0u);
  EXPECT_EQ(tensor.bytes(), 0u);
  EXPECT_TRUE(tensor.is_contiguous());
  EXPECT_TRUE(tensor.data_as<double>().empty());
  tensor.fill(1);
  EXPECT_EQ(tensor.clone().numel(), 0u);
  EXPECT_EQ(Tensor::from_blob(static_cast<void*>(nullptr), {0, 3}, DType::f32).bytes(), 0u);
  EXPECT_EQ(Tensor().numel(), 0u);
  EXPECT_EQ(Tensor().dtype(), DType::bytes);
}

TEST(TensorView, FromBlobChecksItsArguments) {
  float number = 0;
  void* const null = nullptr;
  EXPECT_EQ(message_of([&] {
              return Tensor::from_blob(null, {2, 3}, DType::f32);
            }),
            "null data for a tensor of shape [2, 3]");
  EXPECT_EQ(message_of([&] {
              return Tensor::from_blob(&number, {1, 1}, DType::f32, 1);
            }),
            "strides [1] do not fit shape [1, 1]");
  EXPECT_EQ(message_of([&] { return Tensor::from_blob(&number, 1, static_cast<DType>(99)); }),
            "99 is no element type");
  EXPECT_THROW((void)Tensor::from_blob(&number, {-1}, DType::f32), UsageError);
}

TEST(TensorView, MustFitTheAddressSpace) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  float number = 0;
  EXPECT_EQ(
      message_of([&] { return Tensor::from_blob(&number, largest, DType::f32); }),
      "a tensor of f32 with shape [9223372036854775807] and strides [1] is larger than the address space");
  EXPECT_NO_THROW((void)Tensor::from_blob(&number, largest, DType::u8));
  EXPECT_THROW((void)Tensor::from_blob(&number, {2, 2}, DType::u8, {largest, largest}), UsageError);
  EXPECT_THROW((void)Tensor::from_blob(&number, {3, 1}, DType::u8, {largest, 1}), UsageError);
  EXPECT_THROW((void)Tensor::from_blob(&number, {1ll << 40, 1ll << 40}, DType::u8), UsageError);
}

TEST(TensorView, StridesDecideContiguity) {
  std::array<int, 24> memory{};
  const auto contiguous = [&](const Shape& shape, const Shape& strides) {
    return Tensor::from_blob(memory.data(), shape, DType::i32, strides).is_contiguous();
  };
  EXPECT_TRUE(contiguous({2, 3}, {}));
  EXPECT_TRUE(contiguous({2, 3}, {3, 1}));
  EXPECT_FALSE(contiguous({2, 3}, {1, 2}));
  EXPECT_FALSE(contiguous({2, 3}, {4, 1}));
  EXPECT_FALSE(contiguous({3}, {2}));
  EXPECT_FALSE(contiguous({3}, {0}));
  EXPECT_TRUE(contiguous({1, 3}, {99, 1}));
  EXPECT_TRUE(contiguous({3, 1}, {1, 99}));
  EXPECT_TRUE(contiguous({0, 3}, {7, 7}));
  EXPECT_TRUE(contiguous({}, {}));
}

TEST(TensorView, StridedElementsAreFilledAndClonedInOrder) {
  std::array<int, 6> memory = {0, 1, 2, 3, 4, 5};
  const Tensor transposed = Tensor::from_blob(memory.data(), {3, 2}, DType::i32, {1, 3});
  const Tensor copy = transposed.clone();
  EXPECT_TRUE(copy.is_contiguous());
  const auto elements = copy.data_as<int>();
  EXPECT_EQ(std::vector<int>(elements.begin(), elements.end()), (std::vector<int>{0, 3, 1, 4, 2, 5}));
  Tensor::from_blob(memory.data(), 3, DType::i32, 2).fill(9);
  EXPECT_EQ(memory, (std::array<int, 6>{9, 1, 9, 3, 9, 5}));
}

TEST(TensorView, NarrowTakesAPartOfADimension) {
  std::array<int, 12> memory{};
  for (int i = 0; i < 12; ++i) memory[static_cast<std::size_t>(i)] = i;
  const Tensor matrix = Tensor::from_blob(memory.data(), {3, 4}, DType::i32);
  const Tensor rows = matrix.narrow(0, 1, 2);
  EXPECT_EQ(rows.shape(), (Shape{2, 4}));
  EXPECT_TRUE(rows.is_contiguous());
  EXPECT_EQ(rows.data_as<int>()[0], 4);
  const Tensor columns = matrix.narrow(1, 2, 2);
  EXPECT_EQ(columns.shape(), (Shape{3, 2}));
  EXPECT_EQ(columns.strides(), (Shape{4, 1}));
  EXPECT_FALSE(columns.is_contiguous());
  EXPECT_EQ(columns.numel(), 6u);
  EXPECT_EQ(columns.to_string(), "tensor([[ 2,  3],\n        [ 6,  7],\n        [10, 11]], dtype=i32)");
  EXPECT_EQ(matrix.narrow(0, 3, 0).numel(), 0u);
}

TEST(TensorView, NarrowChecksItsBounds) {
  std::array<int, 12> memory{};
  const Tensor matrix = Tensor::from_blob(memory.data(), {3, 4}, DType::i32);
  EXPECT_EQ(message_of([&] { return matrix.narrow(0, 2, 2); }),
            "narrow: 2 from 2 does not lie in dimension 0 of shape [3, 4]");
  EXPECT_EQ(message_of([&] { return matrix.narrow(2, 0, 1); }),
            "narrow: there is no dimension 2 in shape [3, 4]");
  EXPECT_THROW((void)matrix.narrow(-1, 0, 1), UsageError);
  EXPECT_THROW((void)matrix.narrow(0, -1, 1), UsageError);
  EXPECT_THROW((void)matrix.narrow(0, 0, -1), UsageError);
  EXPECT_THROW((void)matrix.narrow(0, 4, 0), UsageError);
  EXPECT_THROW((void)matrix.narrow(0, 1, std::numeric_limits<std::int64_t>::max()), UsageError);
}

TEST(TensorView, SelectDropsADimension) {
  std::array<int, 12> memory{};
  for (int i = 0; i < 12; ++i) memory[static_cast<std::size_t>(i)] = i;
  const Tensor matrix = Tensor::from_blob(memory.data(), {3, 4}, DType::i32);
  EXPECT_EQ(matrix.select(0, 2).to_string(), "tensor([ 8,  9, 10, 11], dtype=i32)");
  const Tensor column = matrix.select(1, 1);
  EXPECT_EQ(column.shape(), Shape{3});
  EXPECT_EQ(column.strides(), Shape{4});
  EXPECT_EQ(column.to_string(), "tensor([1, 5, 9], dtype=i32)");
  EXPECT_EQ(matrix.select(0, 1).select(0, 2).item<int>(), 6);
  EXPECT_EQ(message_of([&] { return matrix.select(1, 4); }),
            "select: there is no index 4 in dimension 1 of shape [3, 4]");
  EXPECT_THROW((void)matrix.select(0, -1), UsageError);
  EXPECT_THROW((void)matrix.select(0, 0).select(0, 0).select(0, 0), UsageError);
}

TEST(TensorView, ReshapeKeepsTheElements) {
  std::array<int, 6> memory = {0, 1, 2, 3, 4, 5};
  const Tensor line(memory);
  const Tensor matrix = line.reshape({2, 3});
  EXPECT_EQ(matrix.strides(), (Shape{3, 1}));
  EXPECT_EQ(matrix.select(0, 1).select(0, 0).item<int>(), 3);
  EXPECT_EQ(matrix.data(), line.data());
  EXPECT_EQ(message_of([&] { return line.reshape({4}); }), "reshape: shape [6] has other elements than [4]");
  EXPECT_EQ(message_of([&] { return matrix.narrow(1, 0, 2).reshape(4); }),
            "reshape: shape [2, 2] with strides [3, 1] is not contiguous");
  EXPECT_EQ(line.narrow(0, 0, 1).reshape({}).ndim(), 0);
}

TEST(TensorView, DataAsChecksTypeLayoutAndAlignment) {
  alignas(8) std::array<std::byte, 16> memory{};
  const Tensor floats = Tensor::from_blob(memory.data(), 2, DType::f32);
  EXPECT_EQ(message_of([&] { return floats.data_as<int>(); }), "data_as: the elements are f32, not i32");
  EXPECT_EQ(floats.data_as<std::byte>().size(), 8u);
  EXPECT_EQ(floats.data_as<const float>().size(), 2u);
  EXPECT_EQ(message_of([&] { return Tensor::from_blob(memory.data() + 1, 2, DType::f32).data_as<float>(); }),
            "data_as: the memory is not aligned to 4 bytes");
  EXPECT_EQ(message_of([&] { return Tensor::from_blob(memory.data(), 2, DType::f32, 2).data_as<float>(); }),
            "data_as: shape [2] with strides [2] is not contiguous");
}

TEST(TensorView, UnalignedMemoryIsReadAndWrittenByElement) {
  std::array<std::byte, 32> memory{};
  const Tensor doubles = Tensor::from_blob(memory.data() + 1, 2, DType::f64);
  doubles.fill(2.5);
  EXPECT_EQ(doubles.select(0, 1).item<double>(), 2.5);
  EXPECT_EQ(doubles.to_string(), "tensor([2.5000, 2.5000], dtype=f64)");
}

}  // namespace
}  // namespace parley
