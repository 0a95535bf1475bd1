#pragma once

#include "tools/sim/costing.h"

namespace parley::sim {

// No algorithm can be faster under the model, in nanoseconds: the largest of
//   latency    until all can know what one knows: in the model's terms LogP's optimal broadcast (Karp, Sahay,
//              Santos, Schauser: Optimal broadcast and summation in the LogP model, SPAA 1993), of ranks as
//              if all were near, and of hosts whose ranks all tell other hosts; in shared memory one mark
//   bandwidth  what a rank, a host through its rails, or a rack through its uplink has to send or receive
//   folding    (P-1)/P n at the rank that folds most, where contributions are folded
// The last two are the lower bounds of Chan, Heimlich, Purkayastha, van de Geijn: Collective communication:
// theory, practice, and experience, CCPE 19(13), 2007, section 3, with each host and each rack as one rank.
double lower_bound_ns(const Setting& setting, const Call& call);

}  // namespace parley::sim
