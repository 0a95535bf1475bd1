#pragma once

#include <cstddef>
#include <functional>
#include <thread>

namespace parley::base {

// Starts a thread of Parley's own, called "parley-" and `purpose` (up to 8 characters), which receives none
// of the program's signals. `body` must not throw. Throws std::system_error.
std::thread start_own_thread(const char* purpose, std::function<void()> body);

// Threads of this process, but for that of a sanitizer's runtime. 1 where /proc cannot be read.
std::size_t count_threads();
// Those of them that were not started by start_own_thread(). While one of those starts or ends it may be
// counted here.
std::size_t count_program_threads();

}  // namespace parley::base
