#pragma once

#include <cstdint>
#include <string>

#include "rendezvous/address_card.h"

namespace parley::wireup {

// The card of this process, without an address.
rendezvous::AddressCard own_card();

// Whether two cards are of one process.
bool is_same_process(const rendezvous::AddressCard& a, const rendezvous::AddressCard& b);

// Whether a process is not there any more, of which these are AddressCard's `pid` and `start`. REQUIRES: it
// is in sight of this one.
bool has_ended(std::int64_t pid, const std::string& start);

// Whether the card's process is known to be dead: it was in sight of this process, and has ended.
bool is_dead(const rendezvous::AddressCard& card);

}  // namespace parley::wireup
