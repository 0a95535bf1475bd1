#pragma once

#include <cstddef>
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

// Copies to memory that another core reads next, by stores that take no line into this core's caches
// (non-temporal stores): a line that the other core has read before need not be fetched from there first. The
// copy is ordered before whatever is stored after it. The last line is written whole, with zeros behind the
// copied bytes. REQUIRES: `to` is a multiple of 64; there is room for whole lines.
inline void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t line = 64;
  const auto copy_line = [](std::byte* line_to, const std::byte* line_from) {
    const auto* source = reinterpret_cast<const __m128i*>(line_from);
    auto* destination = reinterpret_cast<__m128i*>(line_to);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    _mm_stream_si128(destination, first);
    _mm_stream_si128(destination + 1, second);
    _mm_stream_si128(destination + 2, third);
    _mm_stream_si128(destination + 3, fourth);
  };
  const std::size_t whole = bytes / line * line;
  for (std::size_t at = 0; at < whole; at += line) copy_line(to + at, from + at);
  if (whole != bytes) {
    // A line that is written in part would be read first.
    alignas(line) std::byte last[line] = {};
    std::memcpy(last, from + whole, bytes - whole);
    copy_line(to + whole, last);
  }
  // These stores pass others, those that announce what they have written included.
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace parley::base
