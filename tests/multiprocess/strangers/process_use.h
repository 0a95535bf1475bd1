#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>

namespace parley::testing {

// What another process of this user has now.
[[nodiscard]] std::size_t memory_of(pid_t pid);  // resident bytes
[[nodiscard]] std::size_t descriptors_of(pid_t pid);
[[nodiscard]] std::chrono::nanoseconds cpu_time_of(pid_t pid);

}  // namespace parley::testing
