#pragma once

#include <parley/tensor.h>
#include <parley/types.h>

#include <cstdint>
#include <string>

#include "api/group_state.h"

namespace parley::detail {

// The group's state, checked: throws UsageError for an empty or destroyed group, ForkedError in a child.
[[noreturn]] void refuse_group(const std::shared_ptr<GroupState>& state);
inline GroupState& require_group(const std::shared_ptr<GroupState>& state) {
  // relaxed: destroy() and other calls are ordered by the caller.
  if (state == nullptr || state->world->engine->in_forked_child() ||
      state->world->destroyed.load(std::memory_order_relaxed)) [[unlikely]]
    refuse_group(state);
  return *state;
}

// The same, and this process is one of the group: else UsageError, of `operation`.
[[noreturn]] void refuse_non_member(const GroupState& group, const char* operation);
inline GroupState& require_member(const std::shared_ptr<GroupState>& state, const char* operation) {
  GroupState& group = require_group(state);
  if (!group.is_member()) [[unlikely]]
    refuse_non_member(group, operation);
  return group;
}

// "group \"evens\" {0, 2}", for errors.
std::string text_of(const GroupState& group);

// What a message is sent from or received into; throws UsageError when a tensor is not contiguous, (for a
// receive) read-only, or on a device where this process has none.
inline bool is_good(const Tensor& tensor, bool writable) {
  return tensor.device().type == Device::cpu && tensor.is_contiguous() &&
         !(writable && tensor.is_read_only());
}
void check_further(const Tensor& tensor, const char* operation, bool writable);
// That work can be told to the current stream; throws UsageError. REQUIRES: the tensor is on a device.
void check_stream(const Tensor& tensor, const char* operation);
inline void check_tensor(const Tensor& tensor, const char* operation, bool writable) {
  if (!is_good(tensor, writable)) [[unlikely]]
    check_further(tensor, operation, writable);
}

// Throws UsageError naming the valid ranks: "new_group: rank 7 is out of range: ...".
[[noreturn]] void refuse_rank(const GroupState& group, int rank, const char* what);
inline void check_rank(const GroupState& group, int rank, const char* what) {
  if (rank < 0 || rank >= group.size) [[unlikely]]
    refuse_rank(group, rank, what);
}

// Throws UsageError naming the valid ranks and tags.
[[noreturn]] void refuse_destination(const GroupState& group, int destination, std::int64_t tag);
inline void check_destination(const GroupState& group, int destination, std::int64_t tag) {
  if (destination < 0 || destination >= group.size || tag < 0) [[unlikely]]
    refuse_destination(group, destination, tag);
}
[[noreturn]] void refuse_source(const GroupState& group, int source, std::int64_t tag, const char* operation);
inline void check_source(const GroupState& group, int source, std::int64_t tag, const char* operation) {
  const bool is_good =
      (source == any_source || (source >= 0 && source < group.size)) && (tag >= 0 || tag == any_tag);
  if (!is_good) [[unlikely]]
    refuse_source(group, source, tag, operation);
}

}  // namespace parley::detail
