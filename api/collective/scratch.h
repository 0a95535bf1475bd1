#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace parley::collective {

// Memory for the schedules of a group, recycled: a steady state allocates nothing. Blocks are powers of two,
// aligned to 64 bytes; a few of each size are kept, of large ones 256 MiB, the last ones used: to fault the
// pages of a block in again takes longer than to send them. Thread-safety: none; the engine's lock.
class ScratchPool {
  struct Deleter {
    void operator()(std::byte* memory) const noexcept {
      ::operator delete[](memory, std::align_val_t(alignment));
    }
  };
  using Block = std::unique_ptr<std::byte[], Deleter>;

 public:
  static constexpr std::size_t alignment = 64;

  // A block, or none.
  class Memory {
   public:
    Memory() noexcept = default;
    [[nodiscard]] std::byte* data() const noexcept { return block_.get(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return block_ == nullptr ? 0 : size_of(place_); }

   private:
    friend class ScratchPool;
    Block block_;
    std::size_t place_ = 0;
  };

  // At least so many bytes; none for 0. Throws std::bad_alloc.
  Memory take(std::size_t bytes) {
    Memory memory;
    if (bytes == 0) return memory;
    while (size_of(memory.place_) < bytes) ++memory.place_;
    auto& kept = kept_.at(memory.place_);
    const std::size_t size = size_of(memory.place_);
    if (!kept.empty()) {
      memory.block_ = std::move(kept.back());
      kept.pop_back();
      kept_bytes_ -= counted(size);
    } else {
      memory.block_.reset(new (std::align_val_t(alignment)) std::byte[size]);
      kept.reserve(most_kept);
    }
    return memory;
  }
  void give(Memory memory) noexcept {
    if (memory.data() == nullptr) return;
    auto& kept = kept_[memory.place_];
    const std::size_t size = memory.bytes();
    if (kept.size() == kept.capacity() || !make_room(counted(size))) return;
    kept.push_back(std::move(memory.block_));
    kept_bytes_ += counted(size);
  }

  // Of large blocks that wait here to be taken again.
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }

 private:
  static constexpr std::size_t least_bytes = 256;
  static constexpr std::size_t large_bytes = 64U << 10;
  // Of the blocks in one of the lists.
  static constexpr std::size_t size_of(std::size_t place) noexcept { return least_bytes << place; }
  static constexpr std::size_t counted(std::size_t size) noexcept { return size < large_bytes ? 0 : size; }

  // Drops the largest blocks until so much more may be kept. False: it is more than all.
  bool make_room(std::size_t bytes) noexcept {
    if (bytes > most_kept_bytes) return false;
    for (std::size_t place = kept_.size(); place-- > 0 && kept_bytes_ + bytes > most_kept_bytes;) {
      while (!kept_[place].empty() && kept_bytes_ + bytes > most_kept_bytes) {
        kept_[place].pop_back();
        kept_bytes_ -= counted(size_of(place));
      }
    }
    return true;
  }

  static constexpr std::size_t most_kept_bytes = 256U << 20;
  static constexpr std::size_t most_kept = 4;  // of each size

  std::array<std::vector<Block>, 48> kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace parley::collective
