#pragma once

#include <string>

#include "api/failure.h"

namespace parley::detail {

// Errors of collectives. Their requests name no peer; why they have ended is what the abort of their context
// carries (collective::EndReason), for this call and for all later ones of the group.

// Whether it is one. Not those that are made of operations with one peer each.
[[nodiscard]] bool is_collective(const FailedOperation& operation) noexcept;

// Puts the reason in place of the `aborted` or `timed_out` that the request has ended with. REQUIRES: the
// engine's lock.
void explain_collective(FailureFacts& facts, const transport::Messenger& messenger);

// What follows the operation in the sentence where a collective's differs from others'; empty where not.
[[nodiscard]] std::string collective_outcome_text(const wireup::World& world, const FailureFacts& facts);

}  // namespace parley::detail
