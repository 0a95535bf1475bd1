#pragma once

#include <sys/types.h>

#include <chrono>

namespace parley::testing {

// What another process of this user has used so far.
[[nodiscard]] std::chrono::nanoseconds cpu_time_of(pid_t pid);

}  // namespace parley::testing
