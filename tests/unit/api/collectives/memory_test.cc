// Messages and collectives without memory. In a program of its own, for it replaces the global operator new.
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <vector>

#include "tests/shortage.h"

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

// Whether `begin` got no memory; then nothing has begun.
bool is_refused(const std::function<Work()>& begin, Work& work) {
  try {
    work = begin();
    return false;
  } catch (const std::bad_alloc&) {
  } catch (const ResourceError&) {
  }
  return true;
}

// Called again and again, with one allocation more each time.
TEST(MessageMemory, WhatCannotBeginHasNotBegun) {
  testing::run_world(2, [](ProcessGroup& world) {
    std::vector<int> value(200'000, world.rank() + 1);
    const auto begin = [&] { return world.rank() == 0 ? world.isend(value, 1) : world.irecv(value, 0); };
    Work work;
    int allocations = 0;
    for (;; ++allocations) {
      testing::Shortage::begin({.after = allocations, .refusals = 1});
      const bool has_begun = !is_refused(begin, work);
      testing::Shortage::end();
      if (has_begun) break;
    }
    EXPECT_GT(allocations, 0);
    work.wait();
    EXPECT_EQ(value.back(), 1);
    world.barrier();
  });
}

// What came of an all_reduce of two ranks, one of which gets so many allocations in it before `refusals` are
// refused, in its beginning or as long as it takes. One that cannot begin is called again.
enum class Course : std::uint8_t { went_well, was_called_again, failed };
enum class Span : std::uint8_t { beginning, all };
Course all_reduce_with(const testing::Shortage& shortage, Span span) {
  constexpr std::size_t count = 200'000;  // more than is on its way at once
  std::atomic<Course> course = Course::went_well;
  testing::run_world(2, [&](ProcessGroup& world) {
    const std::vector<int> own(count, world.rank() + 1);
    std::vector<int> value = own;
    const auto begin = [&] { return world.all_reduce(value, {.async_op = true}); };
    Work work;
    if (world.rank() == 1) testing::Shortage::begin(shortage);
    if (is_refused(begin, work)) {
      testing::Shortage::end();
      course = Course::was_called_again;
      for (int look = 0; look < 100; ++look) world.progress();
      EXPECT_EQ(value, own) << "it goes on, with so many allocations: " << shortage.after;
      work = begin();
    }
    if (span == Span::beginning) testing::Shortage::end();
    try {
      work.wait();
      testing::Shortage::end();
      EXPECT_EQ(value.back(), 3) << "with so many allocations: " << shortage.after;
    } catch (const std::exception&) {
      testing::Shortage::end();
      course = Course::failed;
    }
  });
  return course;
}

TEST(CollectiveMemory, ItMayRunOutForAMoment) {
  int after = 0;
  Course course = Course::was_called_again;
  for (; course != Course::went_well; ++after) {
    course = all_reduce_with({.after = after, .refusals = 1}, Span::beginning);
    EXPECT_NE(course, Course::failed) << after;
  }
  EXPECT_GT(after, 5);
}

// There may be none for what comes after the beginning either, nor for telling why: the others then hear of
// it at the latest when this rank leaves.
TEST(CollectiveMemory, ItMayRunOutForGood) {
  int after = 0;
  while (all_reduce_with({.after = after, .refusals = testing::endless}, Span::all) != Course::went_well)
    ++after;
  EXPECT_GT(after, 5);
}

}  // namespace
}  // namespace parley
