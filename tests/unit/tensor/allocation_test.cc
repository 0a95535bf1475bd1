// In a program of its own, for it replaces the global operator new.
#include <gtest/gtest.h>
#include <parley/error.h>
#include <parley/tensor.h>

#include <cstdlib>
#include <new>
#include <vector>

namespace {
thread_local long allocations = 0;
thread_local bool out_of_memory = false;  // for aligned memory, which is what tensors own
}  // namespace

// Not inlined, or GCC takes malloc beside delete for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  return out_of_memory ? nullptr : std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}

namespace parley {
namespace {

TEST(TensorAllocation, ViewsTakeNoMemory) {
  std::vector<float> numbers(24);
  const long before = allocations;
  const Tensor line(numbers);
  const Tensor cube = Tensor::from_blob(numbers.data(), {2, 3, 4}, DType::f32, {12, 4, 1});
  const Tensor part = cube.narrow(1, 0, 2).select(0, 1);
  const Tensor matrix = line.reshape({4, 6});
  matrix.fill(2);
  const Tensor copy = part;
  const float item = copy.select(0, 1).select(0, 3).item<float>();
  const std::size_t raw = Tensor::bytes(numbers.data(), 1).data_as<std::byte>().size();
  EXPECT_EQ(allocations - before, 0);
  EXPECT_EQ(item, 2);
  EXPECT_EQ(raw, 1u);
}

TEST(TensorAllocation, OwnersTakeTheirMemoryAndItsCount) {
  const long before = allocations;
  const Tensor tensor = Tensor::zeros({2, 3});
  EXPECT_EQ(allocations - before, 2);
}

TEST(TensorAllocation, MemoryThatCannotBeHadIsAResourceError) {
  out_of_memory = true;
  try {
    (void)Tensor::empty({2, 3}, DType::f64);
    ADD_FAILURE() << "no error";
  } catch (const ResourceError& error) {
    EXPECT_STREQ(error.what(), "no memory for a tensor of f64 with shape [2, 3]: 48 bytes");
  }
  out_of_memory = false;
  EXPECT_EQ(Tensor::zeros(2).numel(), 2u);
}

}  // namespace
}  // namespace parley
