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

// Of both, for AddressCard::algorithms.
std::uint64_t settings_hash(const schedule::Overrides& overrides) noexcept;

// What is wrong if two ranks were asked for different things, and names the first two: they would choose
// different algorithms for one call. Nothing: all were asked for the same, or for nothing.
std::optional<std::string> find_two_settings(const std::vector<rendezvous::AddressCard>& cards);

}  // namespace parley::wireup
