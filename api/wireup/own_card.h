#pragma once

#include "rendezvous/address_card.h"

namespace parley::wireup {

// The card of this process, without an address.
rendezvous::AddressCard own_card();

// Whether two cards are of one process.
bool is_same_process(const rendezvous::AddressCard& a, const rendezvous::AddressCard& b);

// Whether the card's process is known to be dead: it ran on our host, in our PID namespace, and is not there.
bool is_dead(const rendezvous::AddressCard& card);

}  // namespace parley::wireup
