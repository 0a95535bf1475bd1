// One thread, both ends.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/unit/shm/ring.h"

namespace parley::transport::shm {
namespace {

// Reads the record that must be next.
::testing::AssertionResult reads(Ring& ring, std::uint64_t number, std::uint32_t bytes) {
  Record record;
  if (!ring.reader.has_next()) return ::testing::AssertionFailure() << "nothing next";
  if (ring.reader.look(record) != Look::record) return ::testing::AssertionFailure() << "no record";
  if (!is_record(record, number, bytes)) return ::testing::AssertionFailure() << "another record or bytes";
  (void)ring.reader.release();
  return ::testing::AssertionSuccess();
}

bool is_empty(Ring& ring) {
  Record record;
  return !ring.reader.has_next() && ring.reader.look(record) == Look::empty;
}

TEST(RingLayout, ShapesHaveLimits) {
  EXPECT_TRUE(is_valid(smallest_ring));
  EXPECT_TRUE(is_valid(largest_ring));
  EXPECT_TRUE(is_valid({64, 64 << 10}));
  for (const RingShape shape :
       {RingShape{0, 256}, RingShape{2, 256}, RingShape{12, 256}, RingShape{1U << 17, 256}, RingShape{4, 0},
        RingShape{4, 128}, RingShape{4, 384}, RingShape{4, 1U << 24}})
    EXPECT_FALSE(is_valid(shape)) << shape.cells << " " << shape.payload_bytes;
  // The length of the longest chunk fits into its 23 bits.
  EXPECT_EQ(length_of(pack_word(1, RecordKind::moved, largest_chunk(largest_ring))),
            largest_chunk(largest_ring));
}

TEST(RingLayout, PartsLieOneBehindTheOther) {
  const auto memory = make_ring_memory(small_ring);
  const RingParts parts(memory.get(), small_ring);
  EXPECT_EQ(reinterpret_cast<std::byte*>(parts.counts), memory.get());
  EXPECT_EQ(reinterpret_cast<std::byte*>(parts.cells), memory.get() + 128);
  EXPECT_EQ(parts.payload, memory.get() + 128 + 8 * 64);
  EXPECT_EQ(ring_bytes(small_ring), 128U + 8 * 64 + 1024);
}

TEST(RingLayout, AWordKeepsItsParts) {
  for (const Area area : {Area::own, Area::window}) {
    const std::uint64_t word = pack_word(0xffff'fffe, RecordKind::moved, 0x7bcdef, area);
    EXPECT_EQ(lap_of(word), 0xffff'fffe);
    EXPECT_EQ(kind_of(word), RecordKind::moved);
    EXPECT_EQ(area_of(word), area);
    EXPECT_EQ(length_of(word), 0x7bcdefU);
  }
}

TEST(Ring, ARecordArrivesAsItWasWritten) {
  Ring ring(small_ring);
  EXPECT_TRUE(is_empty(ring));
  ASSERT_TRUE(write(ring.writer, 5, 8, Share::control, RecordKind::moved));
  EXPECT_TRUE(ring.reader.has_next());
  Record record;
  // Looking again without release() finds the same.
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(ring.reader.look(record), Look::record);
    EXPECT_EQ(record.kind, RecordKind::moved);
    EXPECT_TRUE(is_record(record, 5, 8));
  }
  (void)ring.reader.release();
  EXPECT_TRUE(is_empty(ring));
}

// In every lap, and over its end.
TEST(Ring, TellsWhetherAnotherRecordFollowsTheNext) {
  Ring ring(small_ring);
  for (std::uint64_t number = 0; number < 3 * std::uint64_t{small_ring.cells}; number += 2) {
    EXPECT_FALSE(ring.reader.has_another()) << number;
    ASSERT_TRUE(write(ring.writer, number, 8));
    EXPECT_FALSE(ring.reader.has_another()) << number;
    ASSERT_TRUE(write(ring.writer, number + 1, 8));
    EXPECT_TRUE(ring.reader.has_another()) << number;
    ASSERT_TRUE(reads(ring, number, 8));
    EXPECT_FALSE(ring.reader.has_another()) << number;
    ASSERT_TRUE(reads(ring, number + 1, 8));
    ASSERT_TRUE(write(ring.writer, 0, 8));  // the laps' ends fall between two, too
    ASSERT_TRUE(reads(ring, 0, 8));
  }
}

// From every position in the payload ring, every length, written and read one by one and two at a time.
TEST(Ring, EveryLengthAroundTheWraps) {
  for (std::uint32_t offset = 0; offset < small_ring.payload_bytes; offset += 64) {
    for (std::uint32_t bytes = 0; bytes <= largest_chunk(small_ring); ++bytes) {
      Ring ring(small_ring);
      std::uint64_t number = 0;
      for (std::uint32_t left = offset; left != 0; ++number) {
        const std::uint32_t step = std::min(left, largest_chunk(small_ring));
        ASSERT_TRUE(write(ring.writer, number, step) && reads(ring, number, step));
        left -= step;
      }
      ring.reader.hand_back();
      // The longest fits anywhere into an empty ring, twice.
      for (std::uint64_t i = 0; i < 2; ++i)
        ASSERT_TRUE(write(ring.writer, number + i, bytes)) << offset << " " << bytes;
      for (std::uint64_t i = 0; i < 2; ++i)
        ASSERT_TRUE(reads(ring, number + i, bytes)) << offset << " " << bytes;
      ASSERT_TRUE(is_empty(ring));
    }
  }
}

TEST(Ring, ChunksDoNotWrapAndStartAtLines) {
  Ring ring(small_ring);
  std::uint32_t skipped = 0;
  const std::byte* end = ring.parts.payload;
  for (std::uint64_t number = 0; number < 400; ++number) {
    const auto bytes = static_cast<std::uint32_t>(25 + number * 97 % 232);
    ASSERT_TRUE(write(ring.writer, number, bytes));
    Record record;
    ASSERT_EQ(ring.reader.look(record), Look::record);
    const auto offset = static_cast<std::size_t>(record.chunk.data() - ring.parts.payload);
    EXPECT_EQ(offset % 64, 0U);
    EXPECT_LE(offset + record.chunk.size(), small_ring.payload_bytes);
    if (record.chunk.data() < end && end < ring.parts.payload + small_ring.payload_bytes) ++skipped;
    end = record.chunk.data() + (record.chunk.size() + 63) / 64 * 64;
    (void)ring.reader.release();
    ring.reader.hand_back();
  }
  EXPECT_GT(skipped, 20U);
}

TEST(Ring, DataLeavesTheReserveToControl) {
  for (const RingShape shape : {RingShape{4, 256}, RingShape{8, 256}, RingShape{64, 256}}) {
    Ring ring(shape);
    std::uint64_t number = 0;
    while (write(ring.writer, number, 8)) ++number;
    EXPECT_EQ(number, shape.cells - reserved_cells(shape));
    while (write(ring.writer, number, inline_bytes, Share::control)) ++number;
    EXPECT_EQ(number, shape.cells);
    EXPECT_FALSE(write(ring.writer, number, 0));
    for (std::uint64_t i = 0; i < number; ++i)
      ASSERT_TRUE(reads(ring, i, i < number - reserved_cells(shape) ? 8 : 24));
    EXPECT_TRUE(is_empty(ring));
    ring.reader.hand_back();
    EXPECT_TRUE(write(ring.writer, number, 8));
  }
  EXPECT_EQ(reserved_cells({4, 256}), 1U);
  EXPECT_EQ(reserved_cells({64, 256}), 8U);
}

TEST(Ring, AChunkWithoutRoomIsRefusedAndSmallOnesPass) {
  Ring ring(small_ring);
  for (const std::uint64_t number : {0, 1, 2}) ASSERT_TRUE(write(ring.writer, number, 256));
  ASSERT_TRUE(write(ring.writer, 3, 192));
  EXPECT_FALSE(write(ring.writer, 4, 65));
  EXPECT_TRUE(write(ring.writer, 4, 24));
  EXPECT_TRUE(write(ring.writer, 5, 64));
  EXPECT_FALSE(write(ring.writer, 6, 25));
  // Handed back: a quarter of the payload ring.
  Record record;
  ASSERT_EQ(ring.reader.look(record), Look::record);
  EXPECT_TRUE(ring.reader.release());
  EXPECT_TRUE(write(ring.writer, 6, 256));
  EXPECT_FALSE(ring.writer.broken());
  EXPECT_TRUE(reads(ring, 1, 256) && reads(ring, 2, 256) && reads(ring, 3, 192) && reads(ring, 4, 24) &&
              reads(ring, 5, 64) && reads(ring, 6, 256));
}

TEST(Ring, RoomIsHandedBackByQuarters) {
  Ring ring({64, 1024});
  const auto releases = [&ring] {
    Record record;
    EXPECT_EQ(ring.reader.look(record), Look::record);
    return ring.reader.release();
  };
  // A quarter of the cells.
  for (std::uint64_t number = 0; number < 32; ++number) ASSERT_TRUE(write(ring.writer, number, 8));
  for (int i = 1; i <= 32; ++i) EXPECT_EQ(releases(), i % 16 == 0) << i;
  // A quarter of the payload.
  for (std::uint64_t number = 0; number < 8; ++number) ASSERT_TRUE(write(ring.writer, number, 100));
  for (int i = 1; i <= 8; ++i) EXPECT_EQ(releases(), i % 2 == 0) << i;
  EXPECT_TRUE(ring.writer.drained());
  // And the rest when asked.
  ASSERT_TRUE(write(ring.writer, 0, 8));
  EXPECT_FALSE(releases());
  EXPECT_FALSE(ring.writer.drained());
  ring.reader.hand_back();
  EXPECT_TRUE(ring.writer.drained());
}

TEST(Ring, DrainedIsExactOnceTheReaderHandsBack) {
  Ring ring(small_ring);
  EXPECT_TRUE(ring.writer.drained());
  ASSERT_TRUE(write(ring.writer, 0, 100));
  EXPECT_FALSE(ring.writer.drained());
  Record record;
  ASSERT_EQ(ring.reader.look(record), Look::record);
  EXPECT_FALSE(ring.writer.drained());
  EXPECT_FALSE(ring.reader.release());
  EXPECT_FALSE(ring.writer.drained());
  ring.reader.hand_back();
  EXPECT_TRUE(ring.writer.drained());
  ASSERT_TRUE(write(ring.writer, 1, 0));
  EXPECT_FALSE(ring.writer.drained());
}

TEST(Ring, LapsWrapAroundAfterTwoToThe32) {
  for (std::uint32_t first_lap = 0xffff'fffa; first_lap != 3; ++first_lap) {
    Ring ring({4, 512}, first_lap);
    EXPECT_TRUE(is_empty(ring));
    for (std::uint64_t number = 0; number < 40; number += 2) {
      ASSERT_TRUE(write(ring.writer, number, 8)) << first_lap;
      ASSERT_TRUE(write(ring.writer, number + 1, 100)) << first_lap;
      ASSERT_TRUE(reads(ring, number, 8) && reads(ring, number + 1, 100)) << first_lap << " " << number;
      ASSERT_TRUE(is_empty(ring)) << first_lap << " " << number;
      ring.reader.hand_back();
    }
  }
}

}  // namespace
}  // namespace parley::transport::shm
