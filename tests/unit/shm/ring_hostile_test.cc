// The other side writes what no honest one writes. (tests/fuzz/shm_ring.cc tries everything.)
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/unit/shm/ring.h"

namespace parley::transport::shm {
namespace {

TEST(HostileWriter, AnotherLapIsBroken) {
  for (const std::uint32_t lap : {2U, 3U, 0xffff'ffffU}) {
    Ring ring(small_ring);
    ring.parts.cells[0].word = pack_word(lap, RecordKind::packet, 0);
    Record record;
    EXPECT_TRUE(ring.reader.has_next());
    EXPECT_EQ(ring.reader.look(record), Look::broken) << lap;
  }
}

TEST(HostileWriter, AChunkLongerThanTheLongestIsBroken) {
  for (const std::uint32_t bytes : {256U, 257U, 1024U, 0x7f'ffffU}) {
    Ring ring(small_ring);
    ring.parts.cells[0].word = pack_word(1, RecordKind::packet, bytes);
    Record record;
    EXPECT_EQ(ring.reader.look(record), bytes == 256 ? Look::record : Look::broken) << bytes;
  }
}

TEST(HostileWriter, KindsAreNoneOfTheRingsBusiness) {
  Ring ring(small_ring);
  ring.parts.cells[0].word = pack_word(1, static_cast<RecordKind>(0xee), 0);
  Record record;
  ASSERT_EQ(ring.reader.look(record), Look::record);
  EXPECT_EQ(record.kind, static_cast<RecordKind>(0xee));
}

TEST(HostileWriter, WhatWasLookedAtIsACopy) {
  Ring ring(small_ring);
  ASSERT_TRUE(write(ring.writer, 3, 100));
  Record record;
  ASSERT_EQ(ring.reader.look(record), Look::record);
  ring.parts.cells[0].header = header_of(4);
  ring.parts.cells[0].word = pack_word(1, RecordKind::moved, 256);
  EXPECT_TRUE(is_record(record, 3, 100));
  EXPECT_EQ(record.kind, RecordKind::packet);
  // And release() goes by what look() saw: the next chunk is behind 128 bytes, not 256.
  (void)ring.reader.release();
  ASSERT_TRUE(write(ring.writer, 5, 200));
  ASSERT_EQ(ring.reader.look(record), Look::record);
  EXPECT_EQ(record.chunk.data(), ring.parts.payload + 128);
  EXPECT_TRUE(is_record(record, 5, 200));
}

// Writes until the writer looks at the reader's counts.
void write_until_refused(RingWriter& writer) {
  std::uint64_t number = 0;
  while (write(writer, number, 8)) ++number;
}

TEST(HostileReader, CountsAheadOfWhatWasWrittenAreBroken) {
  Ring cells(small_ring);
  cells.parts.counts->cells = 8;  // 7 can be written
  write_until_refused(cells.writer);
  EXPECT_TRUE(cells.writer.broken());
  Ring bytes(small_ring);
  bytes.parts.counts->payload_bytes[0] = 1;
  write_until_refused(bytes.writer);
  EXPECT_TRUE(bytes.writer.broken());
}

TEST(HostileReader, CountsThatGoBackAreBroken) {
  Ring cells(small_ring);
  cells.parts.counts->cells = 3;
  write_until_refused(cells.writer);
  EXPECT_FALSE(cells.writer.broken());
  cells.parts.counts->cells = 2;
  EXPECT_FALSE(write(cells.writer, 0, 0));
  EXPECT_TRUE(cells.writer.broken());

  Ring bytes(small_ring);
  ASSERT_TRUE(write(bytes.writer, 0, 512) && write(bytes.writer, 1, 512));
  bytes.parts.counts->payload_bytes[0] = 512;
  ASSERT_TRUE(write(bytes.writer, 2, 512));
  bytes.parts.counts->payload_bytes[0] = 448;
  EXPECT_FALSE(write(bytes.writer, 3, 64));
  EXPECT_TRUE(bytes.writer.broken());
}

TEST(HostileReader, ABrokenRingTakesNothingMore) {
  Ring ring(small_ring);
  ring.parts.counts->cells = ~std::uint64_t{0};
  write_until_refused(ring.writer);
  ASSERT_TRUE(ring.writer.broken());
  ring.parts.counts->cells = 7;  // as if nothing had been
  EXPECT_FALSE(write(ring.writer, 0, 0));
  EXPECT_FALSE(write(ring.writer, 0, 100));
  EXPECT_FALSE(write(ring.writer, 0, 0, Share::control));
  EXPECT_TRUE(ring.writer.broken());
}

}  // namespace
}  // namespace parley::transport::shm
