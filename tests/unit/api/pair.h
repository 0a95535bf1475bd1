#pragma once

#include <parley/testing.h>

#include <functional>

namespace parley::testing {

// Two ranks, each with its part.
inline void run_pair(const std::function<void(ProcessGroup&)>& zero,
                     const std::function<void(ProcessGroup&)>& one) {
  run_world(2, [&](ProcessGroup& world) { world.rank() == 0 ? zero(world) : one(world); });
}

}  // namespace parley::testing
