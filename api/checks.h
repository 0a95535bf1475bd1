#pragma once

#include <parley/tensor.h>
#include <parley/types.h>

#include <cstdint>

#include "api/group_state.h"

namespace parley::detail {

// The group's state, checked: throws UsageError for an empty or destroyed group, ForkedError in a child.
GroupState& require_group(const std::shared_ptr<GroupState>& state);

// What a message is sent from or received into; throws UsageError when a tensor is not contiguous, not on the
// CPU or (for a receive) read-only.
void check_tensor(const Tensor& tensor, const char* operation, bool writable);

// Throws UsageError naming the valid ranks and tags.
void check_destination(const GroupState& group, int destination, std::int64_t tag);
void check_source(const GroupState& group, int source, std::int64_t tag, const char* operation);

}  // namespace parley::detail
