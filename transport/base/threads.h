#pragma once

#include <cstddef>

namespace parley::base {

// Threads of this process, but for that of a sanitizer's runtime. 1 where /proc cannot be read.
std::size_t count_threads();
// Those of them that Parley has not started.
std::size_t count_program_threads();

// Names the calling thread as one of Parley's own: "parley", or "parley-" and `purpose`.
void name_own_thread(const char* purpose) noexcept;

}  // namespace parley::base
