#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace parley::base {

// Whether `to` lies a little behind `from` in its page, as memory that malloc() has mapped, 16 bytes behind
// the start of a page, does to a page.
[[nodiscard]] inline bool lies_just_behind(std::uintptr_t to, std::uintptr_t from) noexcept {
  constexpr std::uintptr_t page = 4096, vector = 32;
  return (to - from) % page - 1 < vector - 1;
}

// Whether the string instruction, by which memcpy() and the kernel copy so many bytes, is slow there: see
// copy_bulk().
[[nodiscard]] inline bool is_slow_by_string(const void* to, std::uintptr_t from, std::size_t bytes) noexcept {
  constexpr std::size_t most_without = 2048;
  return bytes > most_without && lies_just_behind(reinterpret_cast<std::uintptr_t>(to), from);
}

// By loads and stores, each load before the store that has its place in the page: what is loaded behind such
// a store waits for it.
void copy_by_moves(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

// memcpy(), of any size. It takes the string instruction for more than 2 KiB, which on AMD's Zen 3 comes down
// to 1.8 GB/s where `to` lies just behind `from` (README, Decisions). From about 1 MiB on, where it no longer
// does, moves are as fast as it is.
inline void copy_bulk(void* to, const void* from, std::size_t bytes) noexcept {
  if (is_slow_by_string(to, reinterpret_cast<std::uintptr_t>(from), bytes)) [[unlikely]]
    return copy_by_moves(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  std::memcpy(to, from, bytes);
}

// copy_bulk(), which is undefined from nullptr even for 0 bytes.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes != 0) copy_bulk(to, from, bytes);
}

}  // namespace parley::base
