#pragma once

#include <parley/process_group.h>

#include "bench/scale/board.h"

namespace parley::bench::scale {

// How long rank 0 takes for one look at the network (Work::test() of a receive that nothing comes for), in
// nanoseconds: linked to one rank, and linked to all. The others sleep meanwhile. REQUIRES: a world whose
// ranks link on demand.
void measure_polls(ProcessGroup& world, const Board& board);

}  // namespace parley::bench::scale
