#pragma once

#include <cstddef>
#include <vector>

#include "rendezvous/address_card.h"

namespace parley::wireup {

// Whether the process of `own` may poll without taking a core from another rank: each rank of its host with
// which it competes, through whatever chain of affinity masks, can have a core of its own at the same time,
// and no control group of it allows less than a core for each of its ranks. Pure; what the cards say counts.
bool has_core_of_its_own(const rendezvous::AddressCard& own,
                         const std::vector<rendezvous::AddressCard>& cards);

}  // namespace parley::wireup
