#pragma once

#include <string>
#include <vector>

namespace parley::bench {

// The cores this process may use, in ascending order; at least one. Throws std::system_error.
std::vector<int> usable_cores();

// The core for a local rank: they are dealt out in turn. REQUIRES: `cores` is not empty.
int core_for(int local_rank, const std::vector<int>& cores);

// Keeps the calling thread, and every thread that it starts later, on one core. Throws std::system_error.
void pin_to(int core);

// "rank 0 on core 0, rank 1 on core 1"
std::string describe_pinning(int ranks, const std::vector<int>& cores);

}  // namespace parley::bench
