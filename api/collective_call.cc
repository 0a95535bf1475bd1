#include "api/collective_call.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "api/boards.h"
#include "api/collective/channel.h"
#include "api/operation.h"
#include "api/posting.h"
#include "transport/base/last_cache.h"

namespace parley::detail {

using collective::Channel;
using transport::Engine;
using transport::Posted;

namespace {

// From what all ranks know of each other, so that all predict the same.
schedule::Surroundings surroundings_of(const wireup::Topology& topology, const collective::Team& team) {
  schedule::Surroundings surroundings;
  std::map<std::uint32_t, std::uint32_t> ranks_of_hosts;
  for (const std::uint32_t process : team.processes) {
    const int rank = static_cast<int>(process);
    if (!topology.offers_memory(rank)) surroundings.near = schedule::Link::tcp;
    const std::uint32_t cores = topology.host_of(rank).cores;
    if (cores == 0) continue;  // nothing is known of them
    const std::uint32_t ranks = ++ranks_of_hosts[topology.host_number(rank)];
    surroundings.ranks_per_core =
        std::max(surroundings.ranks_per_core, static_cast<double>(ranks) / static_cast<double>(cores));
  }
  return surroundings;
}

// As many caches as the cores of our host make, but none that no rank of the team uses. REQUIRES: they are
// known.
std::size_t cache_bytes_of(const base::LastCache& cache, std::uint32_t cores, std::size_t ranks) {
  const std::size_t caches = (std::size_t{cores} + cache.cores - 1) / cache.cores;
  return cache.bytes * std::clamp<std::size_t>(caches, 1, ranks);
}

collective::Team team_of(const GroupState& group) {
  const wireup::Topology& topology = group.world->roster->topology();
  collective::Team team;
  team.rank = static_cast<std::uint32_t>(group.rank);
  std::map<std::uint32_t, std::uint32_t> hosts;
  for (int rank = 0; rank < group.size; ++rank) {
    const int process = group.process_of(rank);
    team.processes.push_back(static_cast<std::uint32_t>(process));
    const auto next = static_cast<std::uint32_t>(hosts.size());
    team.hosts.push_back(hosts.try_emplace(topology.host_number(process), next).first->second);
  }
  for (std::uint32_t rank = 0; rank < team.hosts.size(); ++rank)
    if (rank != team.rank && team.hosts[rank] == team.hosts[team.rank]) team.neighbours.push_back(rank);
  if (hosts.size() == 1) team.hosts.clear();
  team.surroundings = surroundings_of(topology, team);
  if (const base::LastCache& cache = group.world->last_cache; cache.bytes != 0)
    team.cache_bytes = cache_bytes_of(cache, topology.host_of(group.process_of(group.rank)).cores,
                                      team.neighbours.size() + 1);
  return team;
}

// Makes an empty Work the handle of one request that lasts as long as the collective does.
void begin_work(Work& work, const std::shared_ptr<GroupState>& group, transport::Request& request,
                const FailedOperation& description, std::shared_ptr<const void> owner, Engine::Visit& visit) {
  WorkAccess::begin(work, new Operation(group->world.get(), &request, description, std::move(owner), true,
                                        group.get(), group));
  visit.keep(group->world);
}

}  // namespace

void open_channel(GroupState& group) {
  group.channel = std::make_unique<Channel>(*group.world->engine, group.all_contexts.collectives,
                                            team_of(group), group.overrides, group.world->arena != nullptr);
}

[[gnu::hot]] Work run_collective(const std::shared_ptr<GroupState>& group, CollectiveCall&& call) {
  Engine& engine = *group->world->engine;
  Work work;
  for (;;) {
    Outcome outcome;  // of what did not end at once
    enum class Course : std::uint8_t { ended_well, begun, must_wait };
    if (call.async_op) Operation::reserve();
    const auto begin_and_wait = [&]() -> Course {
      Engine::Visit visit(engine);
      if (call.place != nullptr) [[unlikely]]
        (void)group->world->devices.open();  // it is there: a tensor is
      Channel& channel = channel_of(*group);
      if (channel.is_full() || channel.wanted_board_bytes() != 0) [[unlikely]]
        return Course::must_wait;
      call.call.question.on_host = call.call.device == nullptr && call.call.errand == nullptr;
      const Posted posted = call.async_op ? channel.begin(visit.messenger(), std::move(call.call))
                                          : channel.begin_borrowed(visit.messenger(), call.call);
      const bool goes_on = call.async_op && posted.request != nullptr;
      visit.note_posted(goes_on);  // also of what has ended: another call may have its turn now
      if (posted.request == nullptr && posted.status.ok()) return Course::ended_well;
      const FailedOperation description{call.name, group->all_contexts.collectives};
      if (goes_on) {
        begin_work(work, group, *posted.request, description, std::move(call.owner), visit);
        if (!call.device.is_cpu()) WorkAccess::set_device(work, call.device.index);
      } else {
        // A wait without a deadline does not throw: a borrowed call is here until it has ended.
        outcome = outcome_of(*group, posted, description, visit);
      }
      return Course::begun;
    };
    const Course course = begin_and_wait();
    if (course == Course::ended_well) [[likely]]
      return work;
    if (course == Course::begun) {
      if (!WorkAccess::is_pending(work))
        WorkAccess::set_status(work, status_or_throw(*group->world, outcome));
      return work;
    }
    supply_board(*group);
    // Too many may be under way. Not for a request: its owner may let it go while we wait.
    engine.wait_until([&](const transport::Messenger&) { return !group->channel->is_full(); }, no_timeout);
  }
}

}  // namespace parley::detail
