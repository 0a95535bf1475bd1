#pragma once

#include <cstdint>
#include <vector>

#include "api/schedule/overrides.h"
#include "rendezvous/address_card.h"

namespace parley::wireup {

// What the environment says of the algorithms of collectives: PARLEY_ALGO, and the table in the file that
// PARLEY_TUNING names. Throws UsageError: a name that is none, a file that cannot be read (with its path), or
// not understood (with path and line).
schedule::Overrides chosen_algorithms();

// For AddressCard::tuning.
std::uint64_t tuning_hash(const schedule::Overrides& overrides) noexcept;

// Throws UsageError that names the first two ranks, of which `rank` may be one, whose tables differ: they
// would choose different algorithms for one call.
void require_one_tuning(const std::vector<rendezvous::AddressCard>& cards, int rank);

}  // namespace parley::wireup
