#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>

#include "tests/multiprocess/support/ranks.h"
#include "transport/base/host.h"

namespace parley::testing {

// In a rank, before init(): it runs on the first so many of the cores that it may use, or on all there are.
// So ranks share cores wherever the test runs.
inline void keep_to_cores(std::size_t count) {
  const auto usable = base::usable_cores();
  cpu_set_t kept;
  CPU_ZERO(&kept);
  for (std::size_t i = 0; i < std::min(count, usable.size()); ++i) CPU_SET(usable[i], &kept);
  expect(sched_setaffinity(0, sizeof(kept), &kept) == 0, "sched_setaffinity");
}

}  // namespace parley::testing
