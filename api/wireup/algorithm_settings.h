#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

// What is wrong if the tables of two ranks differ, and names the first two: they would choose different
// algorithms for one call. Nothing: all have the same one, or none.
std::optional<std::string> find_two_tunings(const std::vector<rendezvous::AddressCard>& cards);

}  // namespace parley::wireup
