#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/base/fetch.h"
#include "transport/base/store_choice.h"
#include "transport/interface/packet.h"
#include "transport/shm/ring_layout.h"

namespace parley::transport::shm {

// The writing side of a ring (ring_layout.h has the rules). Borrows the memory. Thread-safety: none; one
// writer for a ring, beside one reader. The hot path is inline: a small record is a handful of stores to one
// line.
template <typename Memory = SharedMemory>
class BasicRingWriter {
 public:
  // REQUIRES: is_valid(shape); `memory` as for RingParts. `first_lap`: the lap before it stands in all cells;
  // not 1 in tests only.
  BasicRingWriter(std::byte* memory, RingShape shape, std::uint32_t first_lap = 1) noexcept
      : parts_(memory, shape),
        limits_{shape.cells - reserved_cells(shape), shape.cells},
        mask_(shape.cells - 1),
        reserve_(reserved_cells(shape)),
        lap_(first_lap) {
    streams_[0] = {.area = parts_.payload, .bytes = shape.payload_bytes};
  }

  // Puts a record into the ring, for the reader to see at once. False: nothing was written, there is no room
  // for it now, or the ring is broken. REQUIRES: chunk.size() <= largest_chunk(area); <= inline_bytes for
  // Share::control.
  [[nodiscard]] bool try_write(RecordKind kind, const PacketHeader& header, std::span<const std::byte> chunk,
                               Share share, Area area = Area::own) noexcept {
    if (written_ >= limit(share) && !has_cell(share)) [[unlikely]]
      return false;
    Cell& cell = parts_.cells[written_ & mask_];
    const auto length = static_cast<std::uint32_t>(chunk.size());
    if (length <= inline_bytes)
      Memory::write_inline(cell.chunk.data(), chunk);
    else if (!write_chunk(stream_of(area), chunk.data(), length))
      return false;
    Memory::write_header(cell.header, header);
    // release: whoever sees the lap sees the record (invariant 3).
    Memory::store(cell.word, pack_word(lap_, kind, length, area), std::memory_order_release);
    ++written_;
    lap_ += (written_ & mask_) == 0 ? 1 : 0;
    return true;
  }

  // Has this core own a cell of the records after the next ones, so that the stores to it do not wait for the
  // reader's core. For one record of many: behind a lone one it would only come in the way of the record
  // itself.
  void fetch_ahead() const noexcept {
    base::fetch_for_write(&parts_.cells[(written_ + cells_ahead) & mask_]);
  }

  // The same of the next record's cell, in case it answers what has just come, of so many bytes: its reader
  // does not look there yet. Between far cores 8 B take 231 ns so and 300 without. Between close ones chunks
  // beside the cells lose by it; of short ones nobody knows where they are.
  void fetch_for_answer(std::size_t bytes) const noexcept {
    const bool may_be_far = bytes >= base::StoreChoice::least_bytes && !stores_.cores_are_close();
    if ((bytes <= inline_bytes || may_be_far) && written_ < limit(Share::data))
      base::fetch_for_write(&parts_.cells[written_ & mask_]);
  }

  // The same of the cells of an answer's first pieces.
  void fetch_for_answer_in_pieces() const noexcept {
    if (stores_.cores_are_close() || written_ + 1 >= limit(Share::data)) return;
    base::fetch_for_write(&parts_.cells[written_ & mask_]);
    base::fetch_for_write(&parts_.cells[(written_ + 1) & mask_]);
  }

  // The same of the first lines where the next chunk will lie, if it is as long. For a writer that waits for
  // an answer: right behind the record it would come in its way, too.
  void fetch_for_chunk(Area area, std::uint32_t bytes) const noexcept {
    if (!stores_.gains_by_fetching(bytes)) return;
    const Stream& stream = streams_[static_cast<std::size_t>(area)];
    const ChunkPlace place = place_chunk(stream.position, bytes, size_of(stream));
    if (place.end - stream.released > stream.bytes) return;  // the reader may not have read what is there
    base::fetch_for_write(stream.area + (place.begin & (stream.bytes - 1)), bytes);
  }

  // Has this core ask for what drained() looks at, in case a large answer follows.
  void fetch_counts() const noexcept { __builtin_prefetch(parts_.counts); }

  // Whether try_write() would take a chunk of this length now. False for a broken ring. REQUIRES: as
  // try_write() for data.
  [[nodiscard]] bool has_room(Area area, std::uint32_t bytes) noexcept {
    const Stream& stream = stream_of(area);
    const std::uint64_t end = place_chunk(stream.position, bytes, size_of(stream)).end;
    if (written_ >= limit(Share::data) || end - stream.released > stream.bytes) refresh();
    return written_ < limit(Share::data) && end - stream.released <= stream.bytes;
  }

  // 0 for a window that is not there.
  [[nodiscard]] std::uint32_t largest_chunk(Area area) const noexcept {
    return shm::largest_chunk(size_of(streams_[static_cast<std::size_t>(area)]));
  }

  // Area::window lies there from now on; the reader must be told (RecordKind::moved) before the next chunk.
  // Borrows the memory. REQUIRES: is_valid_area(bytes); no chunk is left in the window before (invariant 10).
  void set_window(std::byte* memory, std::uint32_t bytes) noexcept {
    Stream& window = stream_of(Area::window);
    window.area = memory;
    window.bytes = bytes;
  }

  // Whether the next chunks follow others that the reader has not answered.
  void set_in_burst(bool is_in_burst) noexcept { stores_.set_in_row(is_in_burst); }
  // How chunks are stored, as things are.
  [[nodiscard]] const base::StoreChoice& stores() const noexcept { return stores_; }

  // Whether the reader has released every record. Exact if the reader calls hand_back() when it finds the
  // ring empty.
  [[nodiscard]] bool drained() const noexcept {
    // acquire: who then takes the ring's memory away does so after the reader's last look at it.
    return Memory::load(parts_.counts->cells, std::memory_order_acquire) == written_;
  }

  // The reader's counts were impossible: more than was written, or less than before. Found when room is
  // looked for; from then on nothing is written.
  [[nodiscard]] bool broken() const noexcept { return limit(Share::control) == 0; }

 private:
  // What was written into an area.
  struct Stream {
    std::byte* area = nullptr;
    std::uint64_t bytes = 0;     // size of the area
    std::uint64_t position = 0;  // end of the last chunk
    std::uint64_t released = 0;  // the reader's count, as last seen
  };
  static std::uint32_t size_of(const Stream& stream) noexcept {
    return static_cast<std::uint32_t>(stream.bytes);
  }
  [[nodiscard]] Stream& stream_of(Area area) noexcept { return streams_[static_cast<std::size_t>(area)]; }

  [[nodiscard]] std::uint64_t limit(Share share) const noexcept {
    return limits_[static_cast<std::size_t>(share)];
  }

  // Looks whether the reader has released a cell meanwhile.
  [[gnu::noinline]] bool has_cell(Share share) noexcept {
    refresh();
    return written_ < limit(share);
  }

  [[gnu::noinline]] bool write_chunk(Stream& stream, const std::byte* chunk, std::uint32_t length) noexcept {
    const ChunkPlace place = place_chunk(stream.position, length, size_of(stream));
    if (place.end - stream.released > stream.bytes) {
      refresh();
      if (broken() || place.end - stream.released > stream.bytes) return false;
    }
    copy_chunk(stream.area + (place.begin & (stream.bytes - 1)), chunk, length);
    stream.position = place.end;
    return true;
  }

  void copy_chunk(std::byte* to, const std::byte* chunk, std::uint32_t length) noexcept {
    base::store_as_chosen(
        stores_, chunk, length,
        [=](std::size_t at, std::size_t piece) { Memory::write(to + at, chunk + at, piece); },
        [=] { Memory::write_past_caches(to, chunk, length); });
  }

  // Takes the reader's counts, if they can be true.
  void refresh() noexcept {
    if (broken()) return;
    // acquire: what is written into this room comes after the reader's last look at it (invariant 5).
    const std::uint64_t cells = Memory::load(parts_.counts->cells, std::memory_order_acquire);
    if (cells < released_cells_ || cells > written_) return fail();
    for (std::size_t i = 0; i < areas; ++i) {
      Stream& stream = streams_[i];
      const std::uint64_t bytes = Memory::load(parts_.counts->payload_bytes[i], std::memory_order_acquire);
      if (bytes < stream.released || bytes > stream.position) return fail();
      stream.released = bytes;
    }
    released_cells_ = cells;
    const std::uint64_t limit = cells + mask_ + 1;
    limits_ = {limit - reserve_, limit};
  }

  void fail() noexcept { limits_ = {0, 0}; }

  // Not the next one, at which the reader may be looking again and again.
  static constexpr std::uint32_t cells_ahead = 8;

  RingParts parts_;
  std::uint64_t written_ = 0;            // records
  std::array<std::uint64_t, 2> limits_;  // up to which number of records each Share may write; 0: broken
  std::array<Stream, areas> streams_;
  base::StoreChoice stores_;
  std::uint64_t released_cells_ = 0;  // the reader's count, as last seen
  std::uint64_t mask_;                // cells - 1
  std::uint32_t reserve_;
  std::uint32_t lap_;  // of the next record
};

using RingWriter = BasicRingWriter<>;

}  // namespace parley::transport::shm
