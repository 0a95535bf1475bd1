// How communicators come to be: by an id, or by the split of another one.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/simulated_nccl/simulated_nccl.h"

namespace parley::nccl::testing {

Result SimulatedNccl::make_unique_id(UniqueId& id) noexcept {
  const Lock lock(mutex_);
  if (const Result failure = begin(Call::make_unique_id); failure != Result::success) return failure;
  const std::uint32_t meeting = fabric_.meetings++;
  if (meeting >= Fabric::most_meetings) return violate("more communicators than a fabric has room for");
  std::memcpy(id.data(), &meeting, sizeof(meeting));
  return Result::success;
}

Result SimulatedNccl::join(const UniqueId& id, const Membership& who, Communicator& communicator) noexcept {
  const Lock lock(mutex_);
  if (const Result failure = begin(Call::join); failure != Result::success) return failure;
  std::uint32_t number = 0;
  std::memcpy(&number, id.data(), sizeof(number));
  if (number >= Fabric::most_meetings || who.ranks > most_ranks || who.rank < 0 || who.rank >= who.ranks)
    return violate("a join with wrong arguments");
  const int device = device_.current_device();
  if (device < 0) return violate("a join without a device entered");
  communicator = add_member(fabric_.meeting[number], who.rank, who.ranks, device);
  return Result::in_progress;
}

Communicator SimulatedNccl::add_member(Meeting& meeting, int rank, int ranks, int device) {
  auto* const communicator = reinterpret_cast<Communicator>(next_name_++);
  auto member = std::make_shared<Member>(fabric_, meeting, rank, ranks, device);
  communicators_.emplace(communicator, Owned{.member = std::move(member)});
  Meeting::Member& own = meeting.members[static_cast<std::size_t>(rank)];
  (void)device_.device_id(device, own.device);
  own.is_there.store(true, std::memory_order_release);  // with its device
  return communicator;
}

Result SimulatedNccl::split(Communicator communicator, const Division& part, Communicator& child) noexcept {
  while (fabric_.blocks_splits) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const Lock lock(mutex_);
  child = nullptr;
  Owned* const owned = find(communicator, "split");
  if (owned == nullptr) return Result::invalid_argument;
  if (const Result failure = begin(Call::split); failure != Result::success) return failure;
  if (owned->phase != Phase::ready) return violate("split of a communicator that is not ready");
  if (part.color < 0 && part.color != Division::no_color) return violate("a color that is none");
  owned->phase = Phase::splitting;
  owned->part = part;
  owned->child = &child;
  Meeting::Member& own = owned->member->meeting.members[static_cast<std::size_t>(owned->member->rank)];
  const std::uint64_t number = own.splits;
  Meeting::Part& told = own.parts[number % 2];
  told.color = part.color;
  told.key = part.key;
  told.child = 0;
  own.splits.store(number + 1, std::memory_order_release);  // with its part
  return Result::in_progress;
}

// Ends once all ranks have come, and this one's color knows where it meets.
Result SimulatedNccl::look_at_split(Owned& owned) {
  const Member& member = *owned.member;
  auto& members = member.meeting.members;
  const auto own = static_cast<std::size_t>(member.rank);
  const std::uint64_t number = members[own].splits;
  std::vector<std::size_t> siblings;  // by rank in the parent
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(member.ranks); ++rank) {
    if (fabric_.holds_splits || members[rank].splits.load(std::memory_order_acquire) < number)
      return Result::in_progress;
    if (members[rank].parts[(number - 1) % 2].color == owned.part.color) siblings.push_back(rank);
  }
  const auto part_of = [&](std::size_t rank) -> Meeting::Part& {
    return members[rank].parts[(number - 1) % 2];
  };
  if (owned.part.color != Division::no_color) {
    std::atomic<std::uint32_t>& child = part_of(siblings.front()).child;
    if (siblings.front() == own && child == 0) child = ++fabric_.meetings;
    if (child == 0) return Result::in_progress;
    if (child > Fabric::most_meetings) return violate("more communicators than a fabric has room for");
    std::stable_sort(siblings.begin(), siblings.end(),
                     [&](std::size_t a, std::size_t b) { return part_of(a).key < part_of(b).key; });
    const auto place = std::find(siblings.begin(), siblings.end(), own) - siblings.begin();
    *owned.child = add_member(fabric_.meeting[child - 1], static_cast<int>(place),
                              static_cast<int>(siblings.size()), member.device);
  }
  owned.phase = Phase::ready;
  return Result::success;
}

// As NCCL leaves it: a child that is good for nothing but abort().
void SimulatedNccl::fail_split(Owned& owned) {
  if (owned.phase != Phase::splitting || owned.part.color == Division::no_color) return;
  Communicator& child = *owned.child;
  child = reinterpret_cast<Communicator>(next_name_++);
  communicators_.emplace(child, Owned{.member = owned.member, .phase = Phase::failed});
}

}  // namespace parley::nccl::testing
