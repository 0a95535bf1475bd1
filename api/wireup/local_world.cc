#include "api/wireup/local_world.h"

#include "api/wireup/algorithm_settings.h"
#include "api/wireup/links.h"
#include "api/wireup/own_card.h"
#include "transport/fault/fault_transport.h"
#include "transport/inproc/inproc_transport.h"

namespace parley::wireup {

using transport::fault::FaultTransport;

std::vector<LocalRank> make_local_ranks(const std::vector<transport::fault::FaultPlan>& plans,
                                        std::chrono::nanoseconds timeout) {
  const int size = static_cast<int>(plans.size());
  const auto roster =
      std::make_shared<Roster>(std::vector<rendezvous::AddressCard>(plans.size(), own_card()));
  const schedule::Overrides overrides = chosen_algorithms();
  const auto hub = std::make_shared<transport::InprocHub>();
  const auto store = make_memory_store();
  std::vector<LocalRank> ranks;
  for (int rank = 0; rank < size; ++rank) {
    auto world = std::make_unique<World>();
    world->local_hub = hub;
    world->rank = rank;
    world->size = size;
    world->local_rank = rank;
    world->timeout = timeout;
    world->meeting_timeout = timeout;
    world->store.set(store);
    world->described = "threads of one process";
    world->roster = roster;
    world->overrides = overrides;
    transport::EngineOptions options;
    options.messenger.self = static_cast<std::uint32_t>(rank);
    options.messenger.peer_count = static_cast<std::uint32_t>(size);
    options.messenger.first_group_context = contexts_of_group(1).messages;
    options.messenger.noted_contexts = noted_contexts;
    world->engine = std::make_unique<transport::Engine>(options);
    world->engine->set_core_per_rank(roster->topology().has_core(rank));
    std::unique_ptr<transport::Transport> link =
        std::make_unique<transport::InprocTransport>(*hub, options.messenger.self, &world->engine->reactor());
    // Faults befall what goes by a link: with any, all data of other ranks do.
    const auto& plan = plans[static_cast<std::size_t>(rank)];
    if (plan.has_faults()) link = std::make_unique<FaultTransport>(std::move(link), plan);
    auto& added = world->engine->add(std::move(link));
    ranks.push_back({std::move(world), &added});
  }
  return ranks;
}

void link_local_rank(LocalRank& rank, const std::vector<std::string>& addresses, base::Deadline deadline) {
  link_to_self(*rank.world);
  rank.world->ladder.add(*rank.transport,
                         [addresses](transport::PeerId other, const auto&) { return addresses[other]; });
  link_to_all(*rank.world, deadline);
}

}  // namespace parley::wireup
