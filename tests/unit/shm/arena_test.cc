#include "transport/shm/arena.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/shm/child.h"

namespace parley::transport::shm {
namespace {

constexpr ArenaPlan small_plan{.least_bytes = 64 << 10, .growth_divisor = 4};

std::shared_ptr<std::byte> take(Arena& arena, std::size_t bytes) {
  auto memory = arena.allocate(bytes);
  return memory ? memory.value() : nullptr;
}

TEST(Arena, GivesAlignedMemoryThatLiesInASegment) {
  const auto arena = Arena::create(small_plan);
  for (const std::size_t bytes : {0UL, 1UL, 63UL, 1000UL, 60'000UL, 1'000'000UL}) {
    const auto memory = take(*arena, bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0U);
    std::memset(memory.get(), 7, bytes);
    const auto place = arena->find({memory.get(), bytes});
    ASSERT_TRUE(place);
    EXPECT_EQ(arena->segment(place->segment).data() + place->offset, memory.get());
  }
}

TEST(Arena, FindsPartsAndNothingElse) {
  const auto arena = Arena::create(small_plan);
  EXPECT_FALSE(arena->find({nullptr, 0}));
  const auto memory = take(*arena, 10'000);
  const Segment& segment = arena->segment(0);
  const std::byte* end = segment.data() + segment.size();
  const auto part = arena->find({memory.get() + 100, 50});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->offset, static_cast<std::size_t>(memory.get() - segment.data()) + 100);
  EXPECT_TRUE(arena->find({end - 1, 1}));
  EXPECT_FALSE(arena->find({end - 1, 2}));
  EXPECT_FALSE(arena->find({end, 0}));
  EXPECT_FALSE(arena->find({segment.data() - 1, 2}));
  EXPECT_FALSE(arena->find({segment.data(), std::numeric_limits<std::size_t>::max()}));
  const std::vector<std::byte> elsewhere(100);
  EXPECT_FALSE(arena->find({elsewhere.data(), elsewhere.size()}));
}

TEST(Arena, MemoryThatWasLetGoIsUsedAgain) {
  const auto arena = Arena::create(small_plan);
  const std::byte* before = take(*arena, 50'000).get();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(take(*arena, 50'000).get(), before);
}

TEST(Arena, GrowsByFurtherSegments) {
  const auto arena = Arena::create(small_plan);
  std::vector<std::shared_ptr<std::byte>> held;
  std::uint32_t last = 0;
  std::size_t bytes = 0;
  for (int i = 0; i < 400; ++i) {
    held.push_back(take(*arena, 60'000));
    ASSERT_NE(held.back(), nullptr) << i;
    last = arena->find({held.back().get(), 1})->segment;
    bytes += 60'000;
  }
  EXPECT_GT(last, 1U);
  EXPECT_LT(last, 32U) << "a new one has a part of what there is";
  std::size_t all = 0;
  for (std::uint32_t number = 0; number <= last; ++number) all += arena->segment(number).size();
  EXPECT_LT(all, bytes * 2);
  for (std::size_t i = 0; i < held.size(); ++i) std::memset(held[i].get(), static_cast<int>(i), 60'000);
  for (std::size_t i = 0; i < held.size(); ++i)
    EXPECT_EQ(std::count(held[i].get(), held[i].get() + 60'000, static_cast<std::byte>(i)), 60'000);
}

TEST(Arena, WhatWasAllocatedOutlivesIt) {
  auto arena = Arena::create(small_plan);
  auto memory = take(*arena, 10'000);
  const std::weak_ptr<Arena> watched = arena;
  arena.reset();
  std::memset(memory.get(), 7, 10'000);
  EXPECT_FALSE(watched.expired());
  memory.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(Arena, HasNoMoreThanSoManySegments) {
  // Each takes all of its segment.
  const auto arena = Arena::create({.least_bytes = 4096, .growth_divisor = 1'000'000});
  std::vector<std::shared_ptr<std::byte>> held;
  for (std::uint32_t i = 0; i < most_arena_segments; ++i) held.push_back(take(*arena, 4096));
  EXPECT_NE(held.back(), nullptr);
  const auto refused = arena->allocate(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().status.code(), base::Code::exhausted);
  held[10].reset();
  EXPECT_NE(take(*arena, 1), nullptr);
}

TEST(Arena, WithoutMemoryItSaysWhy) {
  EXPECT_EQ(testing::in_child([] {
              const rlimit few{100'000, 100'000};
              setrlimit(RLIMIT_FSIZE, &few);
              const auto arena = Arena::create({.least_bytes = 1 << 20});
              const auto refused = arena->allocate(200'000);
              testing::expect(!refused, "memory beyond the limit");
              testing::expect(!refused.failure().message.empty(), "no reason");
              testing::expect(take(*arena, 80'000) != nullptr, "less than the plan wants is enough");
              return std::string();
            }),
            "");
}

TEST(Arena, AForkedChildLetsGoOfWhatItsParentHad) {
  const auto arena = Arena::create(small_plan);
  auto memory = take(*arena, 50'000);
  std::byte* const address = memory.get();
  address[0] = std::byte{1};
  const pid_t child = fork();
  if (child == 0) {
    address[0] = std::byte{2};  // it is the same memory
    memory.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(address[0], std::byte{2});
  const auto other = take(*arena, 10'000);
  EXPECT_TRUE(other.get() >= address + 50'000 || other.get() + 10'000 <= address) << "it is still ours";
}

// Whichever lock a thread of the parent has at that moment, the child does not wait for it.
TEST(Arena, AForkedChildIsRefusedAtOnce) {
  const auto arena = Arena::create(small_plan);
  const auto memory = take(*arena, 1000);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    std::vector<std::shared_ptr<std::byte>> held;
    while (!stop) {
      held.push_back(take(*arena, 30'000));
      if (held.size() == 20) held.clear();
    }
  });
  int status = 0;
  for (int i = 0; i < 100 && status == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);  // a child that waits for a lock dies of it
      const auto refused = arena->allocate(1000);
      const bool is_found = arena->find({memory.get(), 1000}).has_value();
      _exit(!refused && refused.failure().status.code() == base::Code::closed && is_found ? 0 : 1);
    }
    EXPECT_EQ(waitpid(child, &status, 0), child);
  }
  EXPECT_EQ(status, 0);
  stop = true;
  busy.join();
  EXPECT_NE(take(*arena, 1000), nullptr) << "the parent goes on";
}

TEST(Arena, ThreadsAllocateAndFindSideBySide) {
  const auto arena = Arena::create(small_plan);
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<std::shared_ptr<std::byte>, std::size_t>> held;
    for (int i = 0; i < 2000; ++i) {
      const std::size_t bytes = 1 + random() % 30'000;
      auto memory = take(*arena, bytes);
      ASSERT_NE(memory, nullptr);
      ASSERT_TRUE(arena->find({memory.get(), bytes}));
      std::memset(memory.get(), static_cast<int>(seed), bytes);
      held.emplace_back(std::move(memory), bytes);
      if (held.size() <= 20) continue;
      std::swap(held[random() % held.size()], held.back());
      const auto& [oldest, length] = held.back();
      ASSERT_EQ(std::count(oldest.get(), oldest.get() + length, static_cast<std::byte>(seed)),
                static_cast<std::ptrdiff_t>(length));
      held.pop_back();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace parley::transport::shm
