#pragma once

#include <parley/process_group.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <functional>

#include "tests/unit/shm/refuse_calls.h"

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

// All copies, also those that only find out whether one is possible.
inline const transport::shm::testing::RefusedCall refused_copies{SYS_process_vm_readv, EPERM};

// Of two ranks: copies of rank 1 fail with this error from now on, in the middle of a call that has begun
// when they were possible. It fails with both ranks and says whose memory it was, and messages go on.
void expect_failing_copies_to_end(ProcessGroup& world, int error, const std::function<void()>& call);

}  // namespace parley::testing
