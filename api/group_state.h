#pragma once

#include <parley/process_group.h>

#include <atomic>
#include <memory>

#include "api/wireup/world.h"

namespace parley::detail {

// What the handles of one group share.
struct GroupState {
  std::shared_ptr<wireup::World> world;
  std::uint32_t context = wireup::world_context;
  std::uint32_t barrier_context = wireup::world_barrier_context;
  std::atomic<bool> destroyed{false};  // destroy() was called: every call is a UsageError

  ~GroupState() = default;
};

struct GroupAccess {
  static ProcessGroup make(std::shared_ptr<GroupState> state) {
    ProcessGroup group;
    group.state_ = std::move(state);
    return group;
  }
};

}  // namespace parley::detail
