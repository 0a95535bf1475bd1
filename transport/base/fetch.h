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

// Has this core ask for the first lines of what another core has written, before it copies from there. A
// hint.
inline void fetch_for_read(const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::size_t most_bytes = 2048;
  constexpr std::size_t line_bytes = 64;
  for (std::size_t at = 0; at < std::min(bytes, most_bytes); at += line_bytes) __builtin_prefetch(from + at);
}

}  // namespace parley::base
