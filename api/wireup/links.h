#pragma once

#include "api/wireup/world.h"
#include "transport/base/deadline.h"

namespace parley::wireup {

// Gives the world's engine a link from its rank to itself.
void link_to_self(World& world);

// Dials all lower ranks by the world's ladder, is dialled by the higher ones, and returns when every link is
// up; so no two ranks dial each other. Names who is missing every 10 s. Throws InitError, soon when a process
// that is missing has died on this host or has given up its rank, else at the deadline.
void link_to_all(World& world, base::Deadline deadline);

// Links to another rank when the first operation needs it, and accepts those who dial, for as long as the
// world lasts.
void link_on_demand(World& world);

}  // namespace parley::wireup
