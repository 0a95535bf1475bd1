// Collectives without memory. In a program of its own, for it replaces the global operator new.
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <cstdlib>
#include <new>
#include <vector>

namespace {
thread_local bool out_of_memory = false;  // for aligned memory, which is what collectives work in
}  // namespace

[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  void* const memory = out_of_memory ? nullptr : std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}

namespace parley {
namespace {

TEST(CollectiveMemory, WhoLacksItMayCallAgain) {
  testing::run_world(3, [](ProcessGroup& world) {
    const Tensor in = Tensor::full({1000}, 7, DType::i32);
    // In an order that is not that of their ranks: the call needs memory to bring them together.
    const Tensor whole = Tensor::zeros({3, 1000}, DType::i32);
    const std::vector<Tensor> out{whole.select(0, 2), whole.select(0, 1), whole.select(0, 0)};
    if (world.rank() == 1) {
      out_of_memory = true;
      EXPECT_THROW(world.all_gather(out, in), ResourceError);
      out_of_memory = false;
    }
    world.all_gather(out, in);
    EXPECT_EQ(whole.data_as<std::int32_t>()[2999], 7);
    world.barrier();
  });
}

}  // namespace
}  // namespace parley
