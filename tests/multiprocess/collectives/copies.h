#pragma once

#include <atomic>
#include <cstddef>

// All cross-memory copies of this program, and its clock. What only finds out whether a copy is possible does
// not count.
namespace parley::testing {

extern std::atomic<std::size_t> copied_bytes;  // of this process, out of others
extern std::atomic<int> copy_error;            // of copies from now on; 0: none
// From the first look at the clock on it runs so many times as fast: what ranks copy into stages takes long
// then, and ordinary memory is copied out of their processes instead (CopyChoice), or the other way round.
// For tests of a few seconds: who waits for a point in time waits by the real clock.
extern std::atomic<double> clock_speed;
inline constexpr double stages_are_slow = 16, stages_are_fast = 1.0 / 1024;

}  // namespace parley::testing
