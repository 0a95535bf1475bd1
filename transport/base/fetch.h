#pragma once

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

}  // namespace parley::base
