// A ring whose memory somebody else writes as well: anything, at any time, into cells, laps, lengths, areas,
// payload and counts, while this side writes and reads, with windows that come and go.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "tests/fuzz/expect.h"
#include "tests/fuzz/input.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/ring_writer.h"

namespace parley::fuzz {
namespace {

using namespace transport::shm;
using transport::PacketHeader;

class Attacked {
 public:
  explicit Attacked(RingShape shape)
      : shape_(shape),
        memory_(
            static_cast<std::byte*>(::operator new (ring_bytes(shape), std::align_val_t{ring_alignment}))),
        windows_{new_window(), new_window()},
        parts_(memory_.get(), shape),
        writer_(memory_.get(), shape),
        reader_(memory_.get(), shape) {
    std::memset(memory_.get(), 0, ring_bytes(shape));
  }

  void run(Input& input) {
    while (!input.empty()) {
      switch (input.choice(9)) {
        case 0: scribble(input); break;
        case 1: forge_word(input); break;
        case 2: forge_counts(input); break;
        case 3:
        case 4: write(input); break;
        case 5: look(); break;
        case 6: release(); break;
        case 7: move_window(input); break;
        default: reader_.hand_back(); break;
      }
    }
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{ring_alignment}); }
  };

  static constexpr std::uint32_t window_bytes = 512;
  using Memory = std::unique_ptr<std::byte, Free>;
  // Each by itself, so that AddressSanitizer sees a step beyond it.
  static Memory new_window() {
    return Memory(static_cast<std::byte*>(::operator new (window_bytes, std::align_val_t{ring_alignment})));
  }

  // Either side takes one or the other, whatever the other side does; the reader may lose it, too.
  void move_window(Input& input) {
    const std::size_t which = input.choice(3);
    if (which == 2) {
      reader_.set_window(nullptr, 0);
      reads_ = nullptr;
    } else if (input.choice(2) == 0) {
      writer_.set_window(windows_[which].get(), window_bytes);
    } else {
      reads_ = windows_[which].get();
      reader_.set_window(reads_, window_bytes);
    }
    looked_ = false;  // what it showed may be gone
  }

  // Bytes anywhere in the ring.
  void scribble(Input& input) {
    const std::size_t at = (input.byte() * std::size_t{256} + input.byte()) % ring_bytes(shape_);
    const auto bytes = input.take(std::min<std::size_t>(input.byte(), ring_bytes(shape_) - at));
    std::copy(bytes.begin(), bytes.end(), memory_.get() + at);
  }

  // A word that the reader may take for the next record's.
  void forge_word(Input& input) {
    const auto lap = static_cast<std::uint32_t>(released_ / shape_.cells + input.choice(4));
    const auto kind = static_cast<RecordKind>(input.byte());
    const std::uint32_t largest = largest_chunk(shape_);
    const std::uint32_t lengths[] = {0, 24, 25, 64, largest, largest + 1, 0x7f'ffff, input.byte()};
    const auto area = static_cast<Area>(input.choice(areas));
    parts_.cells[released_ % shape_.cells].word = pack_word(lap, kind, input.one_of(lengths), area);
  }

  // Likely ones, around what was written.
  void forge_counts(Input& input) {
    parts_.counts->cells += input.choice(2 * shape_.cells) - shape_.cells / 2;
    parts_.counts->payload_bytes[input.choice(areas)] +=
        32 * input.choice(shape_.payload_bytes / 32) - shape_.payload_bytes / 4;
  }

  void write(Input& input) {
    static const std::array<std::byte, 1024> filler{};
    const auto area = static_cast<Area>(input.choice(areas));
    const std::uint32_t largest = writer_.largest_chunk(area);
    const std::uint32_t lengths[] = {0, 8, 24, 25, 100, largest};
    const std::uint32_t length = std::min(input.one_of(lengths), std::max(largest, inline_bytes));
    const Share share = length <= inline_bytes && input.choice(2) == 1 ? Share::control : Share::data;
    const bool was_broken = writer_.broken();
    const bool written =
        writer_.try_write(RecordKind::packet, PacketHeader{}, std::span(filler).first(length), share, area);
    FUZZ_EXPECT(!written || !writer_.broken());
    FUZZ_EXPECT(!was_broken || writer_.broken());
    (void)writer_.drained();
  }

  void look() {
    const bool something = reader_.has_next();
    const Look found = reader_.look(record_);
    FUZZ_EXPECT(something == (found != Look::empty));
    looked_ = found == Look::record;
    if (!looked_) return;
    const std::byte* begin = record_.chunk.data();
    const std::byte* end = begin + record_.chunk.size();
    if (record_.chunk.size() <= inline_bytes)
      FUZZ_EXPECT(begin == parts_.cells[released_ % shape_.cells].chunk.data());
    else
      FUZZ_EXPECT(is_within(parts_.payload, shape_.payload_bytes) || is_within(reads_, window_bytes));
    copy_.assign(begin, end);
  }

  // Whether the chunk is, and is no longer than a quarter.
  [[nodiscard]] bool is_within(const std::byte* area, std::uint32_t bytes) const {
    const std::byte* begin = record_.chunk.data();
    return area != nullptr && area <= begin && begin + record_.chunk.size() <= area + bytes &&
           record_.chunk.size() <= largest_chunk(bytes);
  }

  void release() {
    if (!looked_) return;
    looked_ = false;
    ++released_;
    (void)reader_.release();
  }

  RingShape shape_;
  Memory memory_;  // exactly the ring: AddressSanitizer sees a step beyond it
  std::array<Memory, 2> windows_;
  const std::byte* reads_ = nullptr;  // the window that the reader has
  RingParts parts_;
  RingWriter writer_;
  RingReader reader_;
  Record record_;
  bool looked_ = false;
  std::uint64_t released_ = 0;
  std::vector<std::byte> copy_;
};

}  // namespace
}  // namespace parley::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using parley::transport::shm::RingShape;
  static constexpr RingShape shapes[] = {{4, 256}, {8, 512}, {16, 2048}};
  parley::fuzz::Input input(data, size);
  parley::fuzz::Attacked(input.one_of(shapes)).run(input);
  return 0;
}
