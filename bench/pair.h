#pragma once

#include <parley/process_group.h>

#include "bench/raw_link.h"
#include "bench/shared_memory.h"

namespace parley::bench {

// What joins two neighbouring ranks (0-1, 2-3, ...) beside the library: a bare TCP connection and a page of
// memory.
struct Pair {
  int index = 0;
  bool leads = false;  // the even rank: it starts every exchange and holds the watch
  int partner = -1;
  RawLink link;
  SharedMemory page;
};

// Called by all ranks of the group; the group carries the addresses. Throws std::runtime_error (or the
// library's or the system's error) when the partner cannot be reached, such as on another host.
Pair make_pair_of(ProcessGroup& group, Idle idle);

}  // namespace parley::bench
