// Events and pinned memory are used again, and never too early.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

#include "tests/unit/cuda/device.h"
#include "transport/cuda/event_pool.h"
#include "transport/cuda/pinned_pool.h"

namespace parley::cuda::testing {
namespace {

TEST(EventPool, CreatesNoneInASteadyState) {
  EnteredDevice at;
  {
    EventPool events(at.device);
    for (int i = 0; i < 10; ++i) {
      Event event = nullptr;
      ASSERT_EQ(events.take(event), Code::ok);
      EXPECT_EQ(at.device.record(event, default_stream), Code::ok);
      events.give_back(event);
    }
    EXPECT_EQ(at.device.count(Call::create_event), 1u);
    at.device.fail_next(Call::create_event, Code::out_of_memory);
    Event first = nullptr;
    Event second = nullptr;
    EXPECT_EQ(events.take(first), Code::ok);
    EXPECT_EQ(events.take(second), Code::out_of_memory);
    events.give_back(first);
  }
  EXPECT_EQ(at.device.live_events(), 0u);
}

struct Pools {
  explicit Pools(std::size_t bound = PinnedPool::default_bound) : pinned(at.device, events, bound) {}
  // Until there is none of that size.
  std::vector<PinnedBlock*> take_all(std::size_t bytes) {
    std::vector<PinnedBlock*> taken;
    while (PinnedBlock* const block = pinned.take(bytes)) taken.push_back(block);
    return taken;
  }
  EnteredDevice at;
  EventPool events{at.device};
  PinnedPool pinned;
};

TEST(PinnedPool, HasThreeSizes) {
  Pools pools;
  std::vector<PinnedBlock*> blocks;
  for (const std::size_t bytes : PinnedPool::sizes) {
    PinnedBlock* const block = pools.pinned.take(bytes);
    PinnedBlock* const other = pools.pinned.take(bytes - 1);
    EXPECT_EQ(block->bytes, bytes);
    EXPECT_EQ(other->bytes, bytes);
    EXPECT_TRUE(bytes == PinnedPool::large_bytes || other->data == block->data + bytes)
        << "of one allocation";
    blocks.insert(blocks.end(), {block, other});
  }
  EXPECT_EQ(pools.pinned.reserved_bytes(), 4 * PinnedPool::large_bytes);
  for (PinnedBlock* block : blocks) {
    PointerFacts facts;
    EXPECT_EQ(pools.at.device.facts_of(block->data, facts), Code::ok);
    EXPECT_EQ(facts.type, MemoryType::pinned);
    std::memset(block->data, 1, block->bytes);
    pools.pinned.give_back(block);
  }
}

TEST(PinnedPool, TakesALargerBlockWhereThereIsNoRoomForMore) {
  Pools pools(PinnedPool::large_bytes);
  PinnedBlock* const block = pools.pinned.take(PinnedPool::large_bytes);
  EXPECT_TRUE(pools.pinned.has_blocks_for(1));
  EXPECT_EQ(pools.pinned.take(1), nullptr) << "it is in use";
  pools.pinned.give_back(block);
  EXPECT_EQ(pools.pinned.take(1), block);
  pools.pinned.give_back(block);
  Pools cut(PinnedPool::large_bytes);
  PinnedBlock* const small = cut.pinned.take(1);
  EXPECT_FALSE(cut.pinned.has_blocks_for(PinnedPool::small_bytes + 1));
  EXPECT_EQ(cut.pinned.take(PinnedPool::small_bytes + 1), nullptr);
  cut.pinned.give_back(small);
}

TEST(PinnedPool, HandsOutNothingThatIsInFlight) {
  Pools pools(PinnedPool::large_bytes);
  SimulatedDevice& device = pools.at.device;
  PinnedBlock* block = pools.pinned.take(PinnedPool::large_bytes);
  EXPECT_EQ(pools.pinned.take(1), nullptr) << "the bound is reached";
  std::byte* memory = pools.at.memory(8);
  device.hold(default_stream);
  EXPECT_EQ(device.copy(memory, block->data, 8, default_stream), Code::ok);
  EXPECT_EQ(pools.pinned.give_back_after(block, default_stream), Code::ok);
  EXPECT_EQ(device.fill(memory, 0, 8, default_stream), Code::ok);
  EXPECT_EQ(pools.pinned.take(PinnedPool::large_bytes), nullptr);
  device.let_go(default_stream);
  EXPECT_EQ(device.synchronize(default_stream), Code::ok);
  EXPECT_EQ(pools.pinned.take(PinnedPool::large_bytes), block);
  pools.pinned.give_back(block);
  EXPECT_EQ(pools.pinned.take(PinnedPool::large_bytes), block) << "free at once";
  pools.pinned.give_back(block);
  EXPECT_EQ(device.count(Call::create_event), 1u);
}

TEST(PinnedPool, FindsWhatIsFreeBehindASlowStream) {
  Pools pools(PinnedPool::large_bytes);
  SimulatedDevice& device = pools.at.device;
  const Stream slow = pools.at.stream();
  std::vector<PinnedBlock*> blocks = pools.take_all(1);
  EXPECT_EQ(blocks.size(), PinnedPool::large_bytes / PinnedPool::small_bytes);
  device.hold(slow);
  PinnedBlock* last = blocks.back();
  blocks.pop_back();
  for (PinnedBlock* block : blocks) EXPECT_EQ(pools.pinned.give_back_after(block, slow), Code::ok);
  EXPECT_EQ(pools.pinned.give_back_after(last, default_stream), Code::ok);
  EXPECT_EQ(device.synchronize(default_stream), Code::ok);
  PinnedBlock* found = nullptr;
  for (std::size_t i = 0; i < blocks.size() && found == nullptr; ++i) {
    const std::uint64_t before = device.count(Call::query);
    found = pools.pinned.take(1);
    EXPECT_LE(device.count(Call::query) - before, 16u) << "a call's cost has a bound";
  }
  EXPECT_EQ(found, last);
  pools.pinned.give_back(last);
  device.let_go(slow);
}

// To ask takes the host longer than to tell a copy.
TEST(PinnedPool, AsksOnceForAllThatAStreamHasEnded) {
  Pools pools(PinnedPool::large_bytes);
  SimulatedDevice& device = pools.at.device;
  std::vector<PinnedBlock*> blocks = pools.take_all(PinnedPool::medium_bytes);
  ASSERT_EQ(blocks.size(), 16u);
  for (PinnedBlock* block : blocks) EXPECT_EQ(pools.pinned.give_back_after(block, default_stream), Code::ok);
  EXPECT_EQ(device.synchronize(default_stream), Code::ok);
  for (PinnedBlock*& block : blocks) block = pools.pinned.take(PinnedPool::medium_bytes);
  EXPECT_EQ(device.count(Call::query), 1u);

  const auto give_back = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      EXPECT_EQ(pools.pinned.give_back_after(blocks[i], default_stream), Code::ok);
  };
  give_back(0, 5);
  EXPECT_EQ(device.synchronize(default_stream), Code::ok);
  device.hold(default_stream);
  give_back(5, 16);
  const std::vector<PinnedBlock*> free = pools.take_all(PinnedPool::medium_bytes);
  EXPECT_EQ(std::set(free.begin(), free.end()), std::set(blocks.begin(), blocks.begin() + 5));
  for (PinnedBlock* block : free) pools.pinned.give_back(block);
  device.let_go(default_stream);
}

TEST(PinnedPool, FindsWhatHasEndedBehindManySlowStreams) {
  Pools pools(4 * PinnedPool::large_bytes);
  SimulatedDevice& device = pools.at.device;
  std::vector<PinnedBlock*> blocks = pools.take_all(PinnedPool::medium_bytes);
  ASSERT_EQ(blocks.size(), 64u);
  std::vector<Stream> streams;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i % 16 == 0) {
      streams.push_back(pools.at.stream());
      if (streams.size() < 4) device.hold(streams.back());
    }
    if (i == 63) {  // of the fourth stream all but this have ended
      EXPECT_EQ(device.synchronize(streams.back()), Code::ok);
      device.hold(streams.back());
    }
    EXPECT_EQ(pools.pinned.give_back_after(blocks[i], streams.back()), Code::ok);
  }
  PinnedBlock* found = nullptr;
  for (int takes = 0; takes < 4 && found == nullptr; ++takes)
    found = pools.pinned.take(PinnedPool::medium_bytes);
  for (const Stream stream : streams) device.let_go(stream);
  ASSERT_NE(found, nullptr);
  pools.pinned.give_back(found);
}

TEST(PinnedPool, TakesNoStreamForAnother) {
  Pools pools(PinnedPool::large_bytes);
  SimulatedDevice& device = pools.at.device;
  const Stream slow = pools.at.stream();
  std::vector<PinnedBlock*> blocks = pools.take_all(PinnedPool::medium_bytes);
  device.hold(slow);
  std::set<PinnedBlock*> ended;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool is_slow = i % 3 == 0;
    EXPECT_EQ(pools.pinned.give_back_after(blocks[i], is_slow ? slow : default_stream), Code::ok);
    if (!is_slow) ended.insert(blocks[i]);
  }
  EXPECT_EQ(device.synchronize(default_stream), Code::ok);
  const std::vector<PinnedBlock*> free = pools.take_all(PinnedPool::medium_bytes);
  EXPECT_EQ(std::set(free.begin(), free.end()), ended);
  for (PinnedBlock* block : free) pools.pinned.give_back(block);
  device.let_go(slow);
}

TEST(PinnedPool, LivesWithoutMemory) {
  Pools pools;
  pools.at.device.fail_next(Call::allocate_pinned, Code::out_of_memory);
  EXPECT_EQ(pools.pinned.take(1), nullptr);
  PinnedBlock* block = pools.pinned.take(1);
  ASSERT_NE(block, nullptr) << "it may be there later";
  pools.pinned.give_back(block);
}

TEST(PinnedPool, GoesBeyondItsBoundForWhatIsPressing) {
  Pools pools;
  std::vector<PinnedBlock*> taken = pools.take_all(PinnedPool::large_bytes);
  for (std::size_t more = 15 * taken.size(); more > 0; --more) {
    taken.push_back(pools.pinned.take(PinnedPool::large_bytes, PinnedPool::Need::is_pressing));
    ASSERT_NE(taken.back(), nullptr);
  }
  EXPECT_EQ(pools.pinned.take(PinnedPool::large_bytes, PinnedPool::Need::is_pressing), nullptr);
  for (PinnedBlock* const block : taken) pools.pinned.give_back(block);
}

// And nobody waits for the stream.
TEST(PinnedPool, HandsOutNoBlockWhoseEndCannotBeNoted) {
  Pools pools;
  SimulatedDevice& device = pools.at.device;
  for (const Call call : {Call::stream_id, Call::create_event, Call::record}) {
    PinnedBlock* block = pools.pinned.take(1);
    device.fail_next(call, Code::out_of_memory);
    EXPECT_EQ(pools.pinned.give_back_after(block, default_stream), Code::ok);
    PinnedBlock* const other = pools.pinned.take(1);
    EXPECT_NE(other, block);
    pools.pinned.give_back(other);
  }
  EXPECT_EQ(device.count(Call::synchronize), 0u);
  PinnedBlock* block = pools.pinned.take(1);
  device.break_device(0, Code::illegal_address);
  EXPECT_EQ(pools.pinned.give_back_after(block, default_stream), Code::illegal_address);
}

TEST(PinnedPool, GivesAllBackWhenItDies) {
  EnteredDevice at;
  {
    EventPool events(at.device);
    PinnedPool pinned(at.device, events);
    std::byte* memory = at.memory(8);
    PinnedBlock* block = pinned.take(8);
    EXPECT_EQ(at.device.copy(memory, block->data, 8, default_stream), Code::ok);
    EXPECT_EQ(pinned.give_back_after(block, default_stream), Code::ok);
    EXPECT_EQ(at.device.free(memory), Code::ok);
  }
  EXPECT_EQ(at.device.live_allocations(), 0u);
  EXPECT_EQ(at.device.live_events(), 0u);
}

}  // namespace
}  // namespace parley::cuda::testing
