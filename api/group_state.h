#pragma once

#include <parley/process_group.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/device_meeting.h"
#include "api/wireup/world.h"

namespace parley::detail {

struct DevicePath;
struct GroupState;

}  // namespace parley::detail

namespace parley::collective {
class Channel;
}  // namespace parley::collective

namespace parley::nccl {
class Link;
}  // namespace parley::nccl

namespace parley::detail {

// Tells the members of a group that are linked of the death that this rank knows of, if one of them has died
// and its collectives are not over: nobody shall take a rank that leaves because of it for the cause. Whether
// they are over then.
bool pass_death_on(wireup::World& world, std::uint32_t collectives) noexcept;

// The contexts of a group that this process is of. With the last of its handles and operations it leaves the
// group, and tells the others. Does not keep the world: whoever holds it does, or ends before it.
class OpenContexts {
 public:
  // Throws ResourceError.
  OpenContexts(wireup::World& world, const GroupState& group);
  ~OpenContexts();
  OpenContexts(const OpenContexts&) = delete;
  OpenContexts& operator=(const OpenContexts&) = delete;

 private:
  wireup::World& world_;
  const wireup::GroupContexts contexts_;
};

// What the handles of one group share. Its pending operations hold it, too: with the last of them this
// process leaves the group, and tells the others. Immutable but for the count.
struct GroupState {
  // All ranks of the world, in their order.
  static std::shared_ptr<GroupState> of_world(std::shared_ptr<wireup::World> world);
  // Some of them, in any order. This process is one of them: the group is open for messages. Throws
  // ResourceError. REQUIRES: check_options(options).
  static std::shared_ptr<GroupState> open(std::shared_ptr<wireup::World> world, std::uint32_t number,
                                          std::vector<int> members, const GroupOptions& options);
  // ... or it is not.
  static std::shared_ptr<GroupState> of_others(std::shared_ptr<wireup::World> world, std::vector<int> members,
                                               std::string name);

  // The same ranks, whose messages go in another context of the group: for what the library itself sends.
  [[nodiscard]] std::shared_ptr<GroupState> within(std::uint32_t other_context) const;

  GroupState();
  ~GroupState();
  GroupState(const GroupState&) = delete;
  GroupState& operator=(const GroupState&) = delete;

  [[nodiscard]] bool is_world() const noexcept { return ranks.empty(); }
  [[nodiscard]] bool is_member() const noexcept { return rank >= 0; }
  // From ranks in the group to ranks in the world, and back; -1: no member.
  [[nodiscard]] int process_of(int group_rank) const noexcept {
    return is_world() ? group_rank : members[static_cast<std::size_t>(group_rank)];
  }
  [[nodiscard]] int process_or_any(int group_rank) const noexcept {
    return group_rank == any_source ? group_rank : process_of(group_rank);
  }
  [[nodiscard]] int rank_of(int process) const noexcept {
    return is_world() ? process : ranks[static_cast<std::size_t>(process)];
  }

  std::shared_ptr<wireup::World> world;
  wireup::GroupContexts all_contexts;             // of the group
  std::uint32_t context = all_contexts.messages;  // of what is sent by this handle
  int rank = -1;
  int size = 0;
  std::vector<int> members;  // processes by rank; not of the world
  std::vector<int> ranks;    // by process, -1: no member; not of the world
  std::string name;
  wireup::DeviceWish device_wish = wireup::DeviceWish::automatic;
  schedule::Overrides overrides;                 // outlives the channel
  std::shared_ptr<const OpenContexts> contexts;  // null: the world's, or not a member; goes before the world
  // Of the members; goes before the contexts. Made when it is first needed, under the engine's lock.
  std::unique_ptr<collective::Channel> channel;
  // How its ranks work together on devices; null before they first do. These go before the contexts, too.
  DeviceMeeting device_meeting;             // in which they agree on:
  std::unique_ptr<DevicePath> device_path;  // written by the thread that is at it
  // Split off from its parent's, until its ranks have met; null: none. Of the thread that is at it, too.
  std::unique_ptr<nccl::Link> split_off;
  std::atomic<std::uint64_t> splits{0};             // calls of split() so far
  std::atomic<std::int64_t> monitored_barriers{0};  // likewise, of monitored_barrier()
};

// Throws UsageError for options that no group can have; `call` names the caller.
void check_options(const char* call, const GroupOptions& options);

// What a group's rank wishes. The world's wish, if there is one, is stronger.
wireup::DeviceWish wish_for(DeviceBackend asked, wireup::DeviceWish of_world) noexcept;

struct GroupAccess {
  static ProcessGroup make(std::shared_ptr<GroupState> state) {
    ProcessGroup group;
    group.state_ = std::move(state);
    return group;
  }
  static const std::shared_ptr<GroupState>& state(const ProcessGroup& group) noexcept { return group.state_; }
};

}  // namespace parley::detail
