#pragma once

#include "api/schedule/selection.h"
#include "tools/sim/costing.h"

namespace parley::sim {

// The promised cost of an algorithm (schedule::Cost) at the prices of the setting, in nanoseconds: what is
// sent one after another, as if every message between hosts met all that its host sends at the same time, and
// all those of its rack at the uplink; and what is folded. All as slow as the slowest rank.
double promised_ns(const Setting& setting, const schedule::Request& request,
                   const schedule::Candidate& candidate);

}  // namespace parley::sim
