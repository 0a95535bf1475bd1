#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/base/fetch.h"
#include "transport/interface/packet.h"
#include "transport/shm/ring_layout.h"

namespace parley::transport::shm {

// What the reader sees of a record.
struct Record {
  RecordKind kind{};    // any value, from a hostile writer
  PacketHeader header;  // a copy
  // In the ring, until release(). A hostile writer may change these bytes at any time: copy before judging
  // them.
  std::span<const std::byte> chunk;
};

enum class Look : std::uint8_t {
  empty,   // no record now
  record,  // the oldest one
  broken,  // the writer left what no writer leaves: read no further
};

// The reading side of a ring (ring_layout.h has the rules). Borrows the memory. Thread-safety: none; one
// reader for a ring, beside one writer.
//
//   while (reader.look(record) == Look::record) { ...; if (reader.release()) ring the writer's bell; }
template <typename Memory = SharedMemory>
class BasicRingReader {
 public:
  // REQUIRES: as for BasicRingWriter.
  BasicRingReader(std::byte* memory, RingShape shape, std::uint32_t first_lap = 1) noexcept
      : parts_(memory, shape), mask_(shape.cells - 1), quarter_(shape.cells / 4), lap_(first_lap) {
    streams_[0] = {.area = parts_.payload, .bytes = shape.payload_bytes};
  }

  // Whether look() would say something else than `empty`. For polling: one load, from this core's cache while
  // nothing comes.
  [[nodiscard]] bool has_next() const noexcept {
    // relaxed: a hint, nothing is read on the strength of it.
    return lap_of(Memory::load(next_cell().word, std::memory_order_relaxed)) != lap_ - 1;
  }

  // The same of the record after the one that look() showed.
  [[nodiscard]] bool has_another() const noexcept {
    const std::uint64_t next = released_ + 1;
    // relaxed: as in has_next().
    return lap_of(Memory::load(parts_.cells[next & mask_].word, std::memory_order_relaxed)) ==
           lap_ + ((next & mask_) == 0 ? 1 : 0);
  }

  // Looks at the oldest record that was not released. `record` is valid for the answer `record` only; looking
  // again without release() finds the same record.
  [[nodiscard]] Look look(Record& record) noexcept {
    const Cell& cell = next_cell();
    // acquire: the record was written before its lap (invariant 3).
    const std::uint64_t word = Memory::load(cell.word, std::memory_order_acquire);
    if (lap_of(word) != lap_) return lap_of(word) == lap_ - 1 ? Look::empty : Look::broken;
    const std::uint32_t length = length_of(word);
    if (length <= inline_bytes) {
      record.chunk = {cell.chunk.data(), length};
      area_ = 0;
      end_ = streams_[0].position;
    } else {
      area_ = static_cast<std::uint32_t>(area_of(word));
      const Stream& stream = streams_[area_];
      const auto bytes = static_cast<std::uint32_t>(stream.bytes);
      if (length > largest_chunk(bytes)) [[unlikely]]
        return Look::broken;
      const ChunkPlace place = place_chunk(stream.position, length, bytes);
      record.chunk = {stream.area + (place.begin & (stream.bytes - 1)), length};
      end_ = place.end;
      base::fetch_for_read(record.chunk.data(), length);
    }
    record.kind = kind_of(word);
    Memory::read(&record.header, reinterpret_cast<const std::byte*>(&cell.header), sizeof(record.header));
    return Look::record;
  }

  // Done with the record that look() showed. Returns whether room was handed back just now: then the writer
  // may have to be woken. REQUIRES: look() said `record` since the last release().
  [[nodiscard]] bool release() noexcept {
    ++released_;
    lap_ += (released_ & mask_) == 0 ? 1 : 0;
    Stream& stream = streams_[area_];
    stream.position = end_;
    if (released_ - rung_cells_ < quarter_ && stream.position - stream.rung < stream.bytes / 4) return false;
    tell();
    rung_cells_ = released_;
    for (Stream& one : streams_) one.rung = one.position;
    return true;
  }

  // Has this core fetch the cell of a record that comes after the next ones. Only while the writer is known
  // to be ahead: it would have to fetch back a cell that it has not written yet.
  void fetch_ahead() const noexcept { __builtin_prefetch(&parts_.cells[(released_ + cells_ahead) & mask_]); }
  // The same of the next cells, for a reader that copies something else first.
  void fetch_next() const noexcept {
    for (std::uint32_t i = 0; i < cells_ahead; ++i)
      __builtin_prefetch(&parts_.cells[(released_ + i) & mask_]);
  }
  // So many records are to be there already.
  static constexpr std::uint32_t cells_ahead = 4;

  // Area::window lies there from now on; nowhere, for 0 bytes. Borrows the memory. REQUIRES:
  // is_valid_area(bytes), or 0.
  void set_window(const std::byte* memory, std::uint32_t bytes) noexcept {
    Stream& window = streams_[static_cast<std::size_t>(Area::window)];
    window.area = memory;
    window.bytes = bytes;
  }

  // Hands back what was released and not yet told, if anything, so that the writer can see that all was. It
  // does not wait for that (invariant 7).
  void hand_back() noexcept {
    if (released_ != told_cells_) tell();
  }

 private:
  // What was read of an area.
  struct Stream {
    const std::byte* area = nullptr;
    std::uint64_t bytes = 0;     // size of the area
    std::uint64_t position = 0;  // end of the last released chunk
    std::uint64_t told = 0;      // what the writer can know
    std::uint64_t rung = 0;      // what release() has told, and nobody slept through
  };

  [[nodiscard]] const Cell& next_cell() const noexcept { return parts_.cells[released_ & mask_]; }

  void tell() noexcept {
    told_cells_ = released_;
    // release: this side's last look at the records was before (invariant 5). Each count alone is a safe one,
    // so that it does not matter if the writer sees a new one beside an old one.
    for (std::size_t i = 0; i < areas; ++i) {
      Stream& stream = streams_[i];
      if (stream.told == stream.position) continue;
      stream.told = stream.position;
      Memory::store(parts_.counts->payload_bytes[i], stream.told, std::memory_order_release);
    }
    Memory::store(parts_.counts->cells, told_cells_, std::memory_order_release);
  }

  RingParts parts_;
  std::uint64_t released_ = 0;    // records
  std::uint64_t end_ = 0;         // end of the chunk that look() showed, in its area
  std::uint64_t told_cells_ = 0;  // what the writer can know
  std::uint64_t rung_cells_ = 0;  // as Stream::rung
  std::array<Stream, areas> streams_;
  std::uint32_t area_ = 0;  // of the chunk that look() showed
  std::uint32_t mask_;      // cells - 1
  std::uint32_t quarter_;   // of the cells
  std::uint32_t lap_;       // of the next record
};

using RingReader = BasicRingReader<>;

}  // namespace parley::transport::shm
