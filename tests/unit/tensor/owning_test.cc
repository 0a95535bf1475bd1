#include <gtest/gtest.h>
#include <parley/error.h>
#include <parley/tensor.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace parley {
namespace {

template <typename T>
std::vector<T> elements(const Tensor& tensor) {
  const auto span = tensor.data_as<const T>();
  return {span.begin(), span.end()};
}

constexpr DType numeric[] = {DType::bytes, DType::u8,  DType::i8,        DType::i16,
                             DType::i32,   DType::i64, DType::f16,       DType::bf16,
                             DType::f32,   DType::f64, DType::complex64, DType::complex128};

TEST(OwningTensor, FactoriesSetTheElements) {
  EXPECT_EQ(elements<float>(Tensor::zeros({2, 2})), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(elements<float>(Tensor::ones(3)), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(elements<double>(Tensor::full(2, 2.5, DType::f64)), (std::vector<double>{2.5, 2.5}));
  EXPECT_EQ(elements<std::int64_t>(Tensor::arange({2, 2}, DType::i64)),
            (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(Tensor::empty({2, 3}, DType::i16).bytes(), 12u);
  EXPECT_EQ(Tensor::full({}, 7).item(), 7.0);
}

TEST(OwningTensor, EveryNumericTypeCountsAndFills) {
  for (const DType dtype : numeric) {
    SCOPED_TRACE(name(dtype));
    const Tensor numbers = Tensor::arange({3, 5}, dtype);
    for (int i = 0; i < 15; ++i) EXPECT_EQ(numbers.select(0, i / 5).select(0, i % 5).item(), i);
    numbers.fill(3);
    for (int i = 0; i < 15; ++i) EXPECT_EQ(numbers.select(0, i / 5).select(0, i % 5).item<int>(), 3);
    EXPECT_EQ(Tensor::zeros(2, dtype).select(0, 1).item(), 0.0);
    EXPECT_EQ(Tensor::ones(2, dtype).select(0, 1).item(), 1.0);
  }
}

TEST(OwningTensor, BooleansAreZeroOrOne) {
  EXPECT_EQ(elements<bool>(Tensor::arange(2, DType::boolean)), (std::vector<bool>{false, true}));
  EXPECT_THROW((void)Tensor::arange(3, DType::boolean), UsageError);
  EXPECT_THROW((void)Tensor::full(3, 2, DType::boolean), UsageError);
  EXPECT_TRUE(Tensor::ones(1, DType::boolean).item<bool>());
  // A byte that a message brought and that is no bool of C++.
  const Tensor odd = Tensor::zeros(1, DType::boolean);
  odd.data_as<std::byte>()[0] = std::byte{2};
  EXPECT_TRUE(odd.item<bool>());
}

TEST(OwningTensor, F8ElementsAreCarriedOnly) {
  for (const DType dtype : {DType::f8_e4m3, DType::f8_e5m2}) {
    const Tensor tensor = Tensor::zeros(2, dtype);
    EXPECT_EQ(tensor.bytes(), 2u);
    EXPECT_NO_THROW(tensor.fill(0));
    EXPECT_THROW(tensor.fill(1), UsageError);
    EXPECT_THROW((void)tensor.narrow(0, 0, 1).item(), UsageError);
    EXPECT_THROW((void)Tensor::arange(2, dtype), UsageError);
    tensor.data_as<std::byte>()[1] = std::byte{0x3f};
    EXPECT_EQ(tensor.clone().data_as<std::byte>()[1], std::byte{0x3f});
  }
}

TEST(OwningTensor, PairsAreReadAndWrittenByTheirType) {
  for (const DType dtype : {DType::f32_i32, DType::f64_i64, DType::i32_i32, DType::i64_i64}) {
    const Tensor tensor = Tensor::zeros(2, dtype);
    EXPECT_NO_THROW(tensor.fill(0));
    EXPECT_THROW(tensor.fill(1), UsageError);
    EXPECT_THROW((void)tensor.narrow(0, 0, 1).item(), UsageError);
  }
  using Pair = ValueIndex<float, std::int32_t>;
  static_assert(has_dtype<Pair> && !has_scalar<Pair>);
  const Tensor tensor = Tensor::zeros(2, DType::f32_i32);
  tensor.data_as<Pair>()[1] = {2.5f, 7};
  EXPECT_EQ(tensor.clone().data_as<Pair>()[1], (Pair{2.5f, 7}));
}

TEST(OwningTensor, ARefusedValueChangesNothing) {
  const Tensor tensor = Tensor::full(3, 7, DType::u8);
  EXPECT_THROW(tensor.fill(256), UsageError);
  EXPECT_EQ(elements<std::uint8_t>(tensor), (std::vector<std::uint8_t>{7, 7, 7}));
  EXPECT_THROW((void)Tensor::arange(257, DType::u8), UsageError);
  EXPECT_EQ(elements<std::uint8_t>(Tensor::arange(256, DType::u8))[255], 255);
}

TEST(OwningTensor, CopiesShareTheMemory) {
  Tensor first = Tensor::zeros(2);
  const Tensor second = first;
  EXPECT_TRUE(second.is_owning());
  EXPECT_EQ(first.data(), second.data());
  first.fill(3);
  EXPECT_EQ(second.data_as<float>()[0], 3);
  first = Tensor();
  EXPECT_EQ(second.data_as<float>()[1], 3);
}

TEST(OwningTensor, PartsAndOwnersKeepTheMemoryAlive) {
  Tensor part;
  std::shared_ptr<const void> owner;
  const std::byte* address = nullptr;
  {
    const Tensor whole = Tensor::arange({4, 4});
    part = whole.narrow(0, 1, 2).select(1, 3);
    owner = whole.owner();
    address = whole.data();
  }
  EXPECT_TRUE(part.is_owning());
  EXPECT_EQ(part.to_string(), "tensor([ 7., 11.], dtype=f32)");
  part = Tensor();
  EXPECT_EQ(owner.get(), address);
}

TEST(OwningTensor, CloneIsIndependent) {
  std::vector<int> numbers = {1, 2};
  const Tensor copy = Tensor(numbers).clone();
  numbers[0] = 9;
  EXPECT_TRUE(copy.is_owning());
  EXPECT_EQ(elements<int>(copy), (std::vector<int>{1, 2}));
  const Tensor again = copy.clone();
  copy.fill(0);
  EXPECT_EQ(elements<int>(again), (std::vector<int>{1, 2}));
}

TEST(OwningTensor, MemoryIsAligned) {
  for (const std::int64_t size : {0, 1, 3, 64, 1000}) {
    const Tensor tensor = Tensor::empty(size, DType::u8);
    EXPECT_NE(tensor.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64, 0u);
  }
}

TEST(OwningTensor, MayHaveNoElements) {
  const Tensor tensor = Tensor::zeros({0, 3}, DType::f64);
  EXPECT_TRUE(tensor.is_owning());
  EXPECT_EQ(tensor.numel(), 0u);
  EXPECT_EQ(tensor.reshape({3, 0}).shape(), (Shape{3, 0}));
  EXPECT_EQ(Tensor::arange(0).numel(), 0u);
  EXPECT_EQ(tensor.narrow(1, 2, 1).data(), tensor.data());
}

TEST(OwningTensor, ItemNeedsExactlyOneElement) {
  EXPECT_EQ(Tensor::full({1, 1}, 42).item<int>(), 42);
  EXPECT_EQ(Tensor::full({}, 1.5, DType::bf16).item<float>(), 1.5f);
  EXPECT_EQ(Tensor::full(1, 0.1f).item<double>(), static_cast<double>(0.1f));
  EXPECT_EQ(Tensor::full(1, std::complex<float>(1, 2), DType::complex64).item<std::complex<double>>(),
            std::complex<double>(1, 2));
  EXPECT_THROW((void)Tensor::full(1, 1.5).item<int>(), UsageError);
  EXPECT_THROW((void)Tensor::zeros(0).item(), UsageError);
  try {
    (void)Tensor::zeros({2, 3}).item();
    FAIL() << "item() of six elements";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "item: exactly one element is needed, but the shape is [2, 3]");
  }
}

TEST(OwningTensor, MustFitTheAddressSpace) {
  EXPECT_THROW((void)Tensor::empty({1ll << 40, 1ll << 30}, DType::f32), UsageError);
}

TEST(OwningTensor, CopiesMayBeUsedByManyThreads) {
  const Tensor shared = Tensor::arange(64, DType::i64);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([shared] {
      for (int round = 0; round < 200; ++round) {
        const Tensor part = shared.narrow(0, round % 60, 4);
        EXPECT_EQ(part.data_as<const std::int64_t>()[3], round % 60 + 3);
      }
    });
  for (auto& thread : threads) thread.join();
}

TEST(OwningTensor, AdoptedMemoryIsKeptByTensorAndParts) {
  auto memory = std::make_shared<std::vector<float>>(6, 1.5F);
  const std::weak_ptr<std::vector<float>> watched = memory;
  std::shared_ptr<void> first(memory, memory->data());
  Tensor part;
  {
    const Tensor tensor = Tensor::adopt(first, {2, 3}, DType::f32);
    EXPECT_TRUE(tensor.is_owning() && tensor.is_contiguous() && !tensor.is_read_only());
    EXPECT_EQ(tensor.owner().get(), memory->data());
    tensor.fill(2);
    part = tensor.select(0, 1);
  }
  EXPECT_EQ((*memory)[5], 2.0F);
  memory.reset();
  first.reset();
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(elements<float>(part), (std::vector<float>{2, 2, 2}));
  part = Tensor();
  EXPECT_TRUE(watched.expired());
}

TEST(OwningTensor, NoMemoryIsAdoptedForNoElementsOnly) {
  EXPECT_EQ(Tensor::adopt(nullptr, {0, 3}, DType::f32).numel(), 0U);
  EXPECT_THROW((void)Tensor::adopt(nullptr, {1}, DType::f32), UsageError);
  const auto memory = std::make_shared<float>();
  EXPECT_THROW((void)Tensor::adopt(memory, {-1}, DType::f32), UsageError);
}

}  // namespace
}  // namespace parley
