#pragma once

#include <string>

namespace parley::bench {

// Why there is no device to measure on, in words; "" if there is one. Asks in a child process: whoever opens
// CUDA may not fork afterwards, and parley-bench forks its ranks. REQUIRES: one thread only. Throws
// std::system_error when there can be no child.
std::string reason_against_devices();

}  // namespace parley::bench
