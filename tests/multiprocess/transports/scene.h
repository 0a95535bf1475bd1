#pragma once

#include <sys/types.h>

#include <atomic>

namespace parley::testing {

// Of a test in which one of two ranks is killed while a message is read.
struct Scene {
  std::atomic<pid_t> victim{0};
  std::atomic<bool> was_named{false};
};

// What another thread writes, or has the kernel write: nothing orders the two, and ThreadSanitizer shall not
// ask for it.
[[gnu::noinline, gnu::no_sanitize_thread]] inline unsigned char peek(const volatile unsigned char& byte) {
  return byte;
}

}  // namespace parley::testing
