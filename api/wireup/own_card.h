#pragma once

#include "rendezvous/address_card.h"

namespace parley::wireup {

// The card of this process, without an address.
rendezvous::AddressCard own_card();

// Whether two cards are of one process.
bool is_same_process(const rendezvous::AddressCard& a, const rendezvous::AddressCard& b);

// Whether the processes of two cards see one another by their numbers: same host, same PID namespace.
bool is_in_sight(const rendezvous::AddressCard& a, const rendezvous::AddressCard& b);

// Whether the process of the card is not there any more. REQUIRES: it is in sight of this process.
bool has_ended(const rendezvous::AddressCard& card);

// Whether the card's process is known to be dead: it was in sight of this process, and has ended.
bool is_dead(const rendezvous::AddressCard& card);

}  // namespace parley::wireup
