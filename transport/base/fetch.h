#pragma once

#include <algorithm>
#include <cstddef>

namespace parley::base {

// Has this core own a line of memory before it writes there, while it does something else. A hint: nothing is
// written, and any address will do.
inline void fetch_for_write(const void* line) noexcept {
#if defined(__x86_64__)
  // __builtin_prefetch() fetches for reading on old targets.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

// How much one that copies fetches at most: what a core can wait for at once.
inline constexpr std::size_t most_fetched_bytes = 2048;
inline constexpr std::size_t fetched_line_bytes = 64;

// The same of the first lines of so many bytes.
inline void fetch_for_write(const std::byte* to, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < std::min(bytes, most_fetched_bytes); at += fetched_line_bytes)
    fetch_for_write(to + at);
}

// Has this core ask for the first lines of what another core has written, before it copies from there. A
// hint.
inline void fetch_for_read(const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < std::min(bytes, most_fetched_bytes); at += fetched_line_bytes)
    __builtin_prefetch(from + at);
}

// Has this core's caches hold what lies there before whatever is done next.
inline void load_into_caches(const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += fetched_line_bytes)
    (void)*static_cast<const volatile std::byte*>(from + at);
}

}  // namespace parley::base
