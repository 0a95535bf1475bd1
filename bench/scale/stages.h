#pragma once

#include <parley/process_group.h>

#include "bench/scale/board.h"
#include "bench/scale/quantity.h"

namespace parley::bench::scale {

// What the ranks of a world do after init(), all of them. Results are on the board: the notes of all, or
// the times that rank 0 has measured (microseconds; of polls nanoseconds).
void run_stage(Stage stage, ProcessGroup& world, Board& board);

}  // namespace parley::bench::scale
