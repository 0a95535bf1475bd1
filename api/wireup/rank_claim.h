#pragma once

#include <parley/store.h>

#include <cstdint>

#include "transport/base/deadline.h"

namespace parley::wireup {

// Takes a rank for this process in the store of a job, and returns how often the rank has been taken by now:
// the n-th init() of every rank belongs together, so that a world can be left and made again over the same
// store.
//
// A rank that another process has is refused at once: InitError with the facts of both. It is free again when
// that process has given it up, or is dead and was on this host.
std::int64_t claim_rank(Store& store, int rank, int world_size, base::Deadline deadline);

// Gives the rank up, if this process has it. Throws StoreError.
void give_up_rank(Store& store, int rank, base::Deadline deadline);

}  // namespace parley::wireup
