#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace parley::socket {

// Bytes from the socket on their way into TLS, which gets whole records only: what is left of a record that
// has not come in full waits here, and the socket will become readable for the rest of it. Thread-safety:
// none.
class RecordBuffer {
 public:
  static constexpr std::size_t capacity = std::size_t{64} << 10;
  static constexpr std::size_t header_bytes = 5;
  static constexpr std::size_t longest_record = header_bytes + (std::size_t{1} << 14) + 256;

  // Where to read to. Never empty unless whole() is true or broken().
  [[nodiscard]] std::span<std::byte> room() noexcept {
    if (head_ != 0) {
      std::memmove(bytes_.get(), bytes_.get() + head_, tail_ - head_);
      tail_ -= head_;
      whole_ -= head_;
      head_ = 0;
    }
    return {bytes_.get() + tail_, capacity - tail_};
  }
  // How much of room() to fill so that not a byte behind the record under way is taken.
  [[nodiscard]] std::size_t rest_of_record() const noexcept {
    const std::size_t have = tail_ - whole_;
    return (have < header_bytes ? header_bytes : record_at(whole_)) - have;
  }
  void filled(std::size_t count) noexcept {
    tail_ += count;
    while (tail_ - whole_ >= header_bytes) {
      const std::size_t record = record_at(whole_);
      broken_ = broken_ || record > longest_record;
      if (broken_ || tail_ - whole_ < record) return;
      whole_ += record;
    }
  }

  // Whether take() has something.
  [[nodiscard]] bool whole() const noexcept { return head_ != whole_; }
  // A record was announced that TLS does not allow.
  [[nodiscard]] bool broken() const noexcept { return broken_; }
  // Moves bytes of whole records out; returns how many.
  std::size_t take(std::byte* into, std::size_t most) noexcept {
    const std::size_t count = std::min(most, whole_ - head_);
    std::memcpy(into, bytes_.get() + head_, count);
    head_ += count;
    return count;
  }

 private:
  [[nodiscard]] std::size_t record_at(std::size_t at) const noexcept {
    const auto high = std::to_integer<std::size_t>(bytes_[at + 3]);
    const auto low = std::to_integer<std::size_t>(bytes_[at + 4]);
    return header_bytes + (high << 8) + low;
  }

  std::unique_ptr<std::byte[]> bytes_{new std::byte[capacity]};
  std::size_t head_ = 0;   // taken so far
  std::size_t whole_ = 0;  // end of the last whole record
  std::size_t tail_ = 0;   // end of what was read
  bool broken_ = false;
};

}  // namespace parley::socket
