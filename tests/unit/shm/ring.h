#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "transport/shm/ring_layout.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/ring_writer.h"

namespace parley::transport::shm {

struct FreeRing {
  void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{ring_alignment}); }
};
using RingMemory = std::unique_ptr<std::byte, FreeRing>;

// A payload ring or a window by itself.
inline RingMemory make_area(std::size_t bytes) {
  return RingMemory(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{ring_alignment})));
}

// Exactly as long as the ring, so that AddressSanitizer sees a step beyond it; all zero but for the lap.
inline RingMemory make_ring_memory(RingShape shape, std::uint32_t first_lap = 1) {
  RingMemory memory = make_area(ring_bytes(shape));
  std::memset(memory.get(), 0, ring_bytes(shape));
  const RingParts parts(memory.get(), shape);
  for (std::uint32_t i = 0; i < shape.cells; ++i)
    parts.cells[i].word = pack_word(first_lap - 1, RecordKind{}, 0);
  return memory;
}

inline constexpr RingShape small_ring{8, 1024};

// Both ends of a ring in one process.
struct Ring {
  explicit Ring(RingShape ring_shape, std::uint32_t first_lap = 1)
      : shape(ring_shape),
        memory(make_ring_memory(shape, first_lap)),
        parts(memory.get(), shape),
        writer(memory.get(), shape, first_lap),
        reader(memory.get(), shape, first_lap) {}

  RingShape shape;
  RingMemory memory;
  RingParts parts;
  RingWriter writer;
  RingReader reader;
};

// What record `number` carries: every field and byte follows from its number.
inline PacketHeader header_of(std::uint64_t number) {
  PacketHeader header;
  header.kind = PacketKind::data;
  header.type_code = static_cast<std::uint8_t>(number);
  header.credits = static_cast<std::uint16_t>(number * 3);
  header.context = static_cast<std::uint32_t>(number * 5);
  header.tag = static_cast<std::int64_t>(number * 7);
  header.id = static_cast<std::uint32_t>(number * 11);
  header.message_bytes = ~number;
  return header;
}

inline std::uint64_t content_word(std::uint64_t number, std::size_t i) {
  return (number + 1) * 0x9E37'79B9'7F4A'7C15 + i * 0xD1B5'4A32'D192'ED03;
}

inline void fill_chunk(std::span<std::byte> chunk, std::uint64_t number) {
  for (std::size_t i = 0; i < chunk.size(); i += 8) {
    const std::uint64_t word = content_word(number, i);
    std::memcpy(chunk.data() + i, &word, std::min<std::size_t>(8, chunk.size() - i));
  }
}

inline bool is_record(const Record& record, std::uint64_t number, std::size_t bytes) {
  const PacketHeader header = header_of(number);
  if (record.chunk.size() != bytes || std::memcmp(&record.header, &header, sizeof(header)) != 0) return false;
  for (std::size_t i = 0; i < bytes; i += 8) {
    const std::uint64_t word = content_word(number, i);
    if (std::memcmp(record.chunk.data() + i, &word, std::min<std::size_t>(8, bytes - i)) != 0) return false;
  }
  return true;
}

inline bool write(RingWriter& writer, std::uint64_t number, std::uint32_t bytes, Share share = Share::data,
                  RecordKind kind = RecordKind::packet) {
  std::vector<std::byte> chunk(bytes);
  fill_chunk(chunk, number);
  return writer.try_write(kind, header_of(number), chunk, share);
}

}  // namespace parley::transport::shm
