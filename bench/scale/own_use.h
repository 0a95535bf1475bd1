#pragma once

#include <cstdint>

namespace parley::bench::scale {

// What this process has for itself.
struct OwnUse {
  std::int64_t memory_kib = 0;  // what it alone has written, and its part of what it shares on purpose
  std::int64_t descriptors = 0;
};

// From /proc/self. Throws std::system_error.
OwnUse own_use();

}  // namespace parley::bench::scale
