#pragma once

#include <parley/store.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/wireup/roster.h"
#include "transport/base/deadline.h"

namespace parley::wireup {

// The rank of a process in a store, and the round of the job that it takes part in: worlds over one store are
// made one after the other, and all ranks make the same one.
struct Turn {
  std::int64_t round = 1;
  bool again = false;  // the rank was taken in this round before, and that process may have left traces
};

// Takes a rank for this process, for the first round that is not over. `is_over` tells whether a round's
// world has been made; until it is, whoever comes for the rank comes for the same round.
//
// A rank that another process has is refused at once: InitError with the facts of both, and a note for those
// who wait (note_refusal() in round.h). It is free again when that process has given it up, or is dead and
// ran in our PID namespace.
Turn claim_rank(Store& store, int rank, int world_size,
                const std::function<bool(std::int64_t round)>& is_over, base::Deadline deadline);

// Whether a process has the rank in a world of that size, and is not known to be gone.
bool is_held(Store& store, int rank, int world_size, base::Deadline deadline);

// A rank that those who wait for it wait for in vain.
struct Absentee {
  int rank = 0;
  std::string why;  // "its process is dead"
};

// Of these ranks of a world, whose cards are known, those that are known to come no more: the process of the
// card is dead, and ran in our PID namespace, or has its rank no more. The store, if there is one, is asked
// once; what it does not say is not known.
std::vector<Absentee> find_absentees(Store* store, const Roster& roster, const std::vector<int>& ranks);

// Gives the rank up, if this process has it and the store answers.
void give_up_rank(Store& store, int rank) noexcept;

}  // namespace parley::wireup
