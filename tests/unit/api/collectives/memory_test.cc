// Collectives without memory. In a program of its own, for it replaces the global operator new.
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

namespace {
// Of this thread, for aligned memory, which is what collectives work in: so many pieces are left.
constexpr int plenty = 1'000'000;
thread_local int pieces_left = plenty;
}  // namespace

[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  if (pieces_left != plenty && pieces_left-- <= 0) throw std::bad_alloc();
  void* const memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
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
      pieces_left = 0;
      EXPECT_THROW(world.all_gather(out, in), ResourceError);
      pieces_left = plenty;
    }
    world.all_gather(out, in);
    EXPECT_EQ(whole.data_as<std::int32_t>()[2999], 7);
    world.barrier();
  });
}

// Calls again if there was too little memory. Whether there was.
bool call_with(int pieces, const std::function<void()>& call) {
  pieces_left = pieces;
  try {
    call();
    pieces_left = plenty;
    return false;
  } catch (const ResourceError&) {
    pieces_left = plenty;
    call();
    return true;
  }
}

TEST(CollectiveMemory, ItMayRunOutBetweenTwoPieces) {
  testing::run_world(3, [](ProcessGroup& world) {
    int failures = 0;
    for (int pieces = 0; pieces < 3; ++pieces) {
      // Larger than all before: nothing that was kept is large enough.
      const std::int64_t count = 30'000 << (2 * pieces);
      const Tensor in = Tensor::full({3, count}, world.rank(), DType::i32);
      const Tensor out = Tensor::zeros({3, count}, DType::i32), sum = Tensor::full({count}, 5, DType::i32);
      const std::vector<Tensor> sent{in.select(0, 2), in.select(0, 1), in.select(0, 0)};
      const std::vector<Tensor> received{out.select(0, 2), out.select(0, 1), out.select(0, 0)};
      const int own = world.rank() == 1 ? pieces : plenty;
      failures += call_with(own, [&] { world.all_to_all(received, sent); }) ? 1 : 0;
      for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(received[rank].data_as<std::int32_t>()[count - 1], rank);
      failures += call_with(own, [&] { world.all_reduce(sum); }) ? 1 : 0;
      EXPECT_EQ(sum.data_as<std::int32_t>()[count - 1], 15);
    }
    EXPECT_GE(failures, world.rank() == 1 ? 3 : 0);
  });
}

}  // namespace
}  // namespace parley
