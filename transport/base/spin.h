#pragma once

namespace parley::base {

// Tells the core that this is a spin loop: cheaper for the sibling thread, a faster exit from the loop.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

}  // namespace parley::base
