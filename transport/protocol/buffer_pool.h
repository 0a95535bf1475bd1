#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace parley::transport {

// Recycles byte buffers by size class (powers of two), so that a steady state allocates nothing. Buffers
// above the largest class come from the heap each time. Thread-safety: none.
class BufferPool {
 public:
  BufferPool() = default;
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool() {
    for (auto& free : free_)
      for (std::byte* buffer : free) ::operator delete(buffer);
  }

  // nullptr when memory is short.
  std::byte* take(std::size_t bytes) noexcept {
    const std::size_t index = class_of(bytes);
    if (index < free_.size() && !free_[index].empty()) {
      std::byte* buffer = free_[index].back();
      free_[index].pop_back();
      return buffer;
    }
    const std::size_t size = index < free_.size() ? smallest_bytes << index : bytes;
    return static_cast<std::byte*>(::operator new(size, std::nothrow));
  }
  // `bytes` as it was in take().
  void give(std::byte* buffer, std::size_t bytes) noexcept {
    const std::size_t index = class_of(bytes);
    if (index < free_.size() && free_[index].size() < kept_per_class) {
      try {
        free_[index].push_back(buffer);
        return;
      } catch (...) {  // no room to remember it: give it back to the heap
      }
    }
    ::operator delete(buffer);
  }

 private:
  static constexpr std::size_t smallest_bytes = 256;
  static constexpr std::size_t class_count = 13;  // up to 1 MiB
  static constexpr std::size_t kept_per_class = 64;

  static std::size_t class_of(std::size_t bytes) noexcept {
    std::size_t index = 0;
    while (index < class_count && (smallest_bytes << index) < bytes) ++index;
    return index;
  }

  std::array<std::vector<std::byte*>, class_count> free_;
};

}  // namespace parley::transport
