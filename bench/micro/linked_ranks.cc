#include "bench/micro/linked_ranks.h"

#include <chrono>
#include <utility>

#include "api/group_state.h"
#include "api/wireup/last_handle.h"
#include "api/wireup/links.h"
#include "transport/shm/shm_transport.h"
#include "transport/tcp/tcp_transport.h"

namespace parley::bench {
namespace {

std::unique_ptr<transport::Transport> make_transport(LinkKind kind, transport::Engine& engine,
                                                     std::uint32_t self) {
  if (kind == LinkKind::shm)
    return std::make_unique<transport::ShmTransport>(engine.reactor(), transport::shm::Self{.number = self});
  transport::TcpOptions options;
  options.self = self;
  options.credentials.secret = "of two ranks that live in one process";
  return std::make_unique<transport::TcpTransport>(engine.reactor(), std::move(options));
}

}  // namespace

LinkedRank::LinkedRank(int rank, LinkKind kind) : world(std::make_unique<wireup::World>()) {
  world->rank = world->local_rank = rank;
  world->size = 2;
  world->timeout = std::chrono::seconds(60);
  transport::EngineOptions options{.messenger = {}, .background = false};
  options.messenger.self = static_cast<std::uint32_t>(rank);
  options.messenger.peer_count = 2;
  world->engine = std::make_unique<transport::Engine>(options);
  transport = &world->engine->add(make_transport(kind, *world->engine, options.messenger.self));
  wireup::link_to_self(*world);
}

LinkedRank::~LinkedRank() = default;
LinkedRank::LinkedRank(LinkedRank&&) noexcept = default;

bool LinkedRank::is_linked_to(std::uint32_t other) {
  world->engine->poll();
  return world->engine->inspect([&](const transport::Messenger& messenger) {
    return messenger.peer(other).state == transport::PeerState::up;
  });
}

std::array<LinkedRank, 2> linked_ranks(LinkKind kind) {
  std::array<LinkedRank, 2> ranks{LinkedRank(0, kind), LinkedRank(1, kind)};
  ranks[1].world->engine->locked([&](transport::Messenger&) {
    ranks[1].transport->connect(0, ranks[0].transport->address(),
                                base::Deadline::after(std::chrono::seconds(10)));
  });
  for (bool is_linked = false; !is_linked;) {
    const bool there = ranks[0].is_linked_to(1);  // both make progress
    is_linked = ranks[1].is_linked_to(0) && there;
  }
  for (LinkedRank& rank : ranks)
    rank.group =
        detail::GroupAccess::make(detail::GroupState::of_world(wireup::share(std::move(rank.world))));
  return ranks;
}

}  // namespace parley::bench
