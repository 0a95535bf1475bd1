#pragma once

#include <parley/process_group.h>

#include <vector>

#include "bench/options.h"
#include "bench/raw_link.h"
#include "bench/report.h"

namespace parley::bench {

// The sizes that limits are measured for: those that were wanted, or the operation's usual ones.
std::vector<std::size_t> limit_sizes(const Options& options, Op op);

// All limits that the options ask for, operation after operation; every rank of the group calls it. `report`
// is rank 0's, null elsewhere. Throws what went wrong.
void measure_limits(ProcessGroup& group, const Options& options, Idle idle, Report* report);

}  // namespace parley::bench
