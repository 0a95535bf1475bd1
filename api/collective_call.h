#pragma once

#include <parley/collectives.h>
#include <parley/tensor.h>
#include <parley/work.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "api/collective/channel.h"
#include "api/collective/run.h"
#include "api/group_state.h"

namespace parley::detail {

// A collective, from checked arguments on.
struct CollectiveCall {
  // No aggregate, which would be filled with zeros first: see transport::Request.
  explicit CollectiveCall(const char* of) noexcept : name(of) {}
  // Declared to stand with what else each call runs; so the move is, too.
  [[gnu::hot]] ~CollectiveCall() = default;
  CollectiveCall(CollectiveCall&&) = default;

  const char* name;  // "all_reduce", for errors
  collective::Call call;
  std::shared_ptr<const void> owner = nullptr;  // of the tensors' memory, while it is under way
  bool async_op = false;
  bool has_tensor = false;
  Device device = {};                                        // of its tensors, once it has one
  std::shared_ptr<collective::DevicePlace> place = nullptr;  // then, if that is no CPU
  std::vector<std::uint64_t> counts = {};  // what the spans of call.question are of, where blocks are uneven
  std::vector<std::uint64_t> receive_counts = {};
};

// Begins it, waits for it unless it is asynchronous, and throws its error.
Work run_collective(const std::shared_ptr<GroupState>& group, CollectiveCall&& call);

// The channel of a group's collectives, made at its first call. REQUIRES: a member, and the engine's lock.
// Throws std::bad_alloc.
void open_channel(GroupState& group);
inline collective::Channel& channel_of(GroupState& group) {
  if (group.channel == nullptr) [[unlikely]]
    open_channel(group);
  return *group.channel;
}

}  // namespace parley::detail
