#pragma once

#include <parley/process_group.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <functional>

#include "api/collective/copy_choice.h"
#include "tests/unit/shm/refuse_calls.h"

// All cross-memory copies of this program, and its clock. What only finds out whether a copy is possible does
// not count.
namespace parley::testing {

extern std::atomic<std::size_t> copied_bytes;  // of this process, out of others
extern std::atomic<int> copy_error;            // of copies from now on; 0: none
// The world of ranks that have boards; before, collectives go by messages, which are pulled.
ProcessGroup init_with_boards();

// How fast the clock runs in calls that try stages (CopyChoice). Where it is slow they take long, and
// ordinary memory is copied out of the processes instead, or the other way round. For tests of a few seconds:
// who waits for a point in time waits by the real clock.
extern double clock_of_stages;
inline constexpr double stages_are_slow = 512, stages_are_fast = 1.0 / 4096;
// Before each call of a collective that may be copied, of a group that has boards: sets the clock.
void keep_pace(schedule::Operation operation, std::size_t bytes);
// After so many such calls it is known which way is faster, and taken.
inline constexpr int settled =
    static_cast<int>(collective::CopyChoice::first_trial + 2 * collective::CopyChoice::calls_of_way + 1);

// All copies, also those that only find out whether one is possible.
inline const transport::shm::testing::RefusedCall refused_copies{SYS_process_vm_readv, EPERM};

// Of two ranks: copies of rank 1 fail with this error from now on, in the middle of a call that has begun
// when they were possible. It fails with both ranks and says whose memory it was, and messages go on.
void expect_failing_copies_to_end(ProcessGroup& world, int error, const std::function<void()>& call);

}  // namespace parley::testing
