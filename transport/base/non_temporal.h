#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace parley::base {

// Whether there is a copy past the caches; where there is none, copy_past_caches() is a plain one.
#if defined(__x86_64__)
inline constexpr bool has_copy_past_caches = true;
#else
inline constexpr bool has_copy_past_caches = false;
#endif

// Copies to memory that another core reads next, or nobody soon, by stores that take no line into this core's
// caches (non-temporal stores): a line that the other core has read before need not be fetched from there
// first. Lines that are written in part are stored as usual. The copy is ordered before whatever is stored
// after it.
inline void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t line = 64;
  if (const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(to) % line; misplaced != 0) {
    const std::size_t head = std::min(line - misplaced, bytes);
    std::memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
  }
  for (; bytes >= line; to += line, from += line, bytes -= line) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* destination = reinterpret_cast<__m128i*>(to);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    _mm_stream_si128(destination, first);
    _mm_stream_si128(destination + 1, second);
    _mm_stream_si128(destination + 2, third);
    _mm_stream_si128(destination + 3, fourth);
  }
  if (bytes != 0) std::memcpy(to, from, bytes);
  // These stores pass others, those that announce what they have written included.
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace parley::base
