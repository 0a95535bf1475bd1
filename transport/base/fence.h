#pragma once

namespace parley::base {

// What std::atomic_thread_fence(seq_cst) is; GCC refuses that one in builds for ThreadSanitizer.
inline void full_fence() noexcept {
  __sync_synchronize();
}

}  // namespace parley::base
