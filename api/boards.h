#pragma once

#include "api/group_state.h"

namespace parley::detail {

// The memory in which the ranks of a host show each other what collectives need: see
// api/collective/commons.h.

// Gives the group's channel the board that it wants, if it wants one. Without the engine's lock: pages may
// have to be taken for it.
void supply_board(GroupState& group);

// The group has no more calls. What it has shown is kept until the others have left it, too.
void leave_channel(GroupState& group) noexcept;

}  // namespace parley::detail
