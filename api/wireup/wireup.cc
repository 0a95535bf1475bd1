#include "api/wireup/wireup.h"

#include <parley/error.h>
#include <unistd.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "api/wireup/algorithm_settings.h"
#include "api/wireup/link_settings.h"
#include "api/wireup/links.h"
#include "api/wireup/own_card.h"
#include "api/wireup/reachability.h"
#include "api/wireup/roll_call.h"
#include "rendezvous/prefix_store.h"
#include "rendezvous/private_file.h"
#include "transport/base/env.h"
#include "transport/base/host.h"
#include "transport/base/log.h"
#include "transport/shm/shm_transport.h"
#include "transport/socket/own_address.h"
#include "transport/socket/secret.h"
#include "transport/tcp/tcp_transport.h"

namespace parley::wireup {
namespace {

constexpr const char* loopback = "127.0.0.1";

// Serves the store if that is ours to do, and connects to it.
std::shared_ptr<Store> open_store(World& world, const WireupOptions& options,
                                  const socket::Credentials& credentials, base::Deadline deadline) {
  const auto& place = options.place;
  if (options.store != nullptr) return options.store;
  if (place.store_host.empty()) {
    const auto path = place.store_path.empty()
                          ? rendezvous::private_file(place.store_key, rendezvous::own_surroundings())
                          : place.store_path;
    auto store = make_file_store(path);
    store->set_timeout(deadline.remaining());
    return store;
  }
  TcpStoreOptions store;
  store.host = place.store_host;
  store.port = place.store_port;
  store.secret = socket::secret_of_job(credentials.secret, place.job);
  store.tls = credentials.encrypt;
  store.timeout = deadline.remaining();
  if (place.serves_store) world.store_server = std::make_unique<TcpStoreServer>(store);
  return connect_tcp_store(store);
}

// The address where the other ranks reach us. Those who share a store share a network with its keeper.
std::string choose_host(const WireupOptions& options) {
  if (!options.host.empty()) return options.host;
  const bool known = socket::knows_own_address();
  if (options.store == nullptr) {
    const bool in_a_file = options.place.store_host.empty();
    return in_a_file && !known ? loopback : socket::own_address(options.place.store_host);
  }
  if (options.place.world_size == 1 && !known) return loopback;
  const auto keeper = rendezvous::keeper_of(*options.store);
  const bool elsewhere = keeper && !keeper->empty();
  if (known || elsewhere) return socket::own_address(elsewhere ? *keeper : "");
  if (keeper) return loopback;
  throw UsageError(
      "init() with a store of the program's own kind cannot tell where this process can be reached: set "
      "InitOptions::host or PARLEY_HOST, or PARLEY_SOCKET_IFNAME");
}

std::unique_ptr<transport::Engine> make_engine(const WireupOptions& options) {
  transport::EngineOptions engine;
  engine.messenger.self = static_cast<std::uint32_t>(options.place.rank);
  engine.messenger.peer_count = static_cast<std::uint32_t>(options.place.world_size);
  engine.messenger.first_group_context = contexts_of_group(1).messages;
  engine.messenger.noted_contexts = noted_contexts;
  if (const auto limit = base::env_integer("PARLEY_EAGER_LIMIT")) {
    if (*limit < 0 || *limit > static_cast<std::int64_t>(transport::max_payload_bytes))
      throw UsageError("PARLEY_EAGER_LIMIT must be 0 to 1048576 bytes");
    engine.messenger.eager_limit_bytes = static_cast<std::size_t>(*limit);
    engine.messenger.routed_bytes = static_cast<std::size_t>(*limit) + 1;
  }
  return std::make_unique<transport::Engine>(engine);
}

// A rank that is alone does not look: that takes a quarter of a millisecond.
base::LastCache choose_last_cache(int world_size) {
  const auto bytes = base::env_integer("PARLEY_CACHE_BYTES");
  if (!bytes) return world_size > 1 ? base::last_cache_of(base::usable_cores().front()) : base::LastCache();
  if (*bytes <= 0) throw UsageError("PARLEY_CACHE_BYTES must be a positive number of bytes");
  return {static_cast<std::size_t>(*bytes), std::numeric_limits<std::uint32_t>::max()};
}

// As the launcher says, else counted: the lower ranks on our host.
int choose_local_rank(const rendezvous::Place& place, const Topology& topology) {
  if (place.local_rank >= 0) return place.local_rank;
  const int count = topology.local_rank(place.rank);
  PARLEY_LOG(info, "init", "LOCAL_RANK is not set: by its host, this is local rank ", count);
  return count;
}

std::optional<Complaint> review(const std::vector<rendezvous::AddressCard>& cards,
                                const StoreOrigin& origin) {
  if (auto hidden = find_unreachable(cards, origin)) return Complaint{false, hidden->rank, hidden->text};
  if (auto difference = find_two_settings(cards)) return Complaint{true, -1, *std::move(difference)};
  return std::nullopt;
}

[[noreturn]] void fail_with(const Complaint& complaint, int rank) {
  ErrorDetails details;
  details.rank = rank;
  details.culprit = complaint.culprit;
  details.operation = "init";
  if (!complaint.is_of_usage) throw InitError(complaint.text, details);
  throw UsageError(base::concat("rank ", rank, ": init() failed: ", complaint.text), details);
}

std::shared_ptr<Roster> make_roster(RollCall::Outcome& outcome) {
  Listing& listing = outcome.listing;
  auto roster = std::make_shared<Roster>(std::move(listing.topology), std::move(outcome.neighbours));
  for (std::size_t rank = 0; rank < listing.cards.size(); ++rank)
    roster->learn(static_cast<int>(rank), std::move(listing.cards[rank]));
  return roster;
}

// The transports that this rank offers; null: not chosen, or not to be had.
struct Ways {
  transport::ShmTransport* shm = nullptr;
  transport::Transport* tcp = nullptr;
  std::string no_shm = {};  // why, where it was chosen
};

// "tcp 10.0.0.1:4242 and shm".
std::string text_of(const Ways& ways) {
  if (ways.tcp == nullptr) return "shm";
  return base::concat("tcp ", ways.tcp->address(), ways.shm == nullptr ? "" : " and shm");
}

void open_shm(Ways& ways, transport::Engine& engine, const transport::shm::Self& self, bool is_only_way) try {
  auto made = std::make_unique<transport::ShmTransport>(engine.reactor(), self);
  transport::ShmTransport* const shm = made.get();
  engine.add(std::move(made));
  ways.shm = shm;
} catch (const std::system_error& error) {
  ways.no_shm = base::concat("no memory can be shared between processes: ", error.what());
  if (is_only_way)
    throw SystemError(base::concat(
        ways.no_shm, "; PARLEY_TRANSPORTS=", *base::env_string("PARLEY_TRANSPORTS"), " allows nothing else"));
  PARLEY_LOG(info, "shm", ways.no_shm);
}

Ways open_ways(World& world, transport::TcpOptions tcp) {
  const TransportChoice choice = chosen_transports();
  Ways ways;
  transport::Engine& engine = *world.engine;
  if (choice.shm) {
    const transport::shm::Self self{
        .number = tcp.self,
        .job = tcp.credentials.job,
        .cross_memory = choice.cma ? transport::shm::CrossMemory::create() : nullptr,
        .arena = transport::shm::Arena::create()};
    open_shm(ways, engine, self, !choice.tcp);
    if (ways.shm != nullptr) world.arena = self.arena;
  }
  if (choice.tcp)
    ways.tcp = &engine.add(std::make_unique<transport::TcpTransport>(engine.reactor(), std::move(tcp)));
  return ways;
}

void make_ladder(World& world, const Ways& ways, const std::string& own_tcp_address) {
  using rendezvous::AddressCard;
  if (ways.shm != nullptr)
    world.ladder.add(*ways.shm, [](transport::PeerId, const AddressCard& card) { return card.shm_address; });
  if (!ways.no_shm.empty()) world.ladder.lack("shm", ways.no_shm);
  if (ways.tcp != nullptr)
    world.ladder.add(*ways.tcp, [own_tcp_address](transport::PeerId, const AddressCard& card) {
      return socket::with_own_scope(card.tcp_address, own_tcp_address);
    });
}

// Nothing: the world was made without us, and the next one is to be joined.
std::unique_ptr<World> wire_up_once(const WireupOptions& options, base::Deadline deadline) {
  auto world = std::make_unique<World>();
  world->rank = options.place.rank;
  world->size = options.place.world_size;
  world->timeout = options.timeout;
  world->meeting_timeout = options.init_timeout;
  world->described = options.place.source;
  base::set_log_rank(world->rank);
  world->engine = make_engine(options);
  world->last_cache = choose_last_cache(world->size);
  world->overrides = chosen_algorithms();
  link_to_self(*world);
  rendezvous::AddressCard card = own_card();
  card.algorithms = settings_hash(world->overrides);
  if (options.place.alone || (world->size == 1 && options.store == nullptr)) {
    world->roster = std::make_shared<Roster>(std::vector{card});
    world->store.set(make_memory_store());  // groups meet there, of one rank, too
    return world;
  }
  transport::TcpOptions tcp;
  tcp.self = static_cast<transport::PeerId>(world->rank);
  tcp.credentials = socket::resolve_credentials(options.secret, options.tls);
  const auto store = open_store(*world, options, tcp.credentials, deadline);
  world->store.set(store);
  tcp.host = choose_host(options);
  RollCall roll_call(*store, world->rank, world->size, deadline);
  world->has_claim = true;
  tcp.credentials.job = roll_call.agree_on_job();
  world->groups_prefix = roll_call.key("groups/");
  world->last_words = {roll_call.key("left/"), roll_call.key("deaths"), world->size};
  world->cards_prefix = roll_call.cards_prefix();
  const Ways ways = open_ways(*world, std::move(tcp));
  if (ways.shm != nullptr) card.shm_address = ways.shm->address();
  if (ways.tcp != nullptr) card.tcp_address = ways.tcp->address();
  const StoreOrigin origin = origin_of_store(options.place, options.store != nullptr);
  const bool serves = options.store == nullptr && options.place.serves_store;
  RollCall::Terms terms;
  terms.all_cards = world->size <= full_mesh_limit();
  terms.review = [&](const auto& cards) { return review(cards, origin); };
  if (serves) terms.advice = advice_on_missing(options.place.store_host, origin.setting);
  auto outcome = roll_call.exchange(card, terms);
  if (!outcome) return nullptr;
  if (outcome->listing.complaint) fail_with(*outcome->listing.complaint, world->rank);
  const bool links_all = outcome->listing.has_all_cards();
  world->roster = make_roster(*outcome);
  world->roster->learn(world->rank, card);

  const Topology& topology = world->roster->topology();
  world->local_rank = choose_local_rank(options.place, topology);
  const bool core_per_rank = topology.has_core(world->rank);
  world->engine->set_core_per_rank(core_per_rank);
  if (!core_per_rank && ways.shm != nullptr)
    world->engine->locked([&](transport::Messenger&) { ways.shm->share_cores(); });
  make_ladder(*world, ways, card.tcp_address);
  if (links_all)
    link_to_all(*world, deadline);
  else
    link_on_demand(*world);
  world->complete = true;
  // Who has left and comes again, for the next world at this address, keeps this one's store from no end.
  if (world->store_server != nullptr) world->store_server->disregard_newcomers();
  roll_call.forget_older_rounds();
  if (links_all)
    world->engine->locked([&](transport::Messenger& messenger) {
      for (int rank = 0; rank < world->size; ++rank)
        messenger.peer(static_cast<std::uint32_t>(rank)).title = world->name_of(rank);
    });
  world->engine->start_pulse();
  PARLEY_LOG(info, "init", "rank ", world->rank, " of ", world->size,
             world->on_demand ? " links on demand, " : " is linked to all ranks, ", text_of(ways), ", ",
             topology.host_of(world->rank).ranks, " ranks on this host with ",
             topology.host_of(world->rank).cores, " cores",
             core_per_rank ? "" : ", not one for each: waits give theirs away");
  return world;
}

}  // namespace

std::unique_ptr<World> wire_up(const WireupOptions& options) {
  const auto deadline = base::Deadline::after(options.init_timeout);
  for (;;) {
    try {
      if (auto world = wire_up_once(options, deadline)) return world;
      PARLEY_LOG(info, "init", "joining again: another process of this rank was part of the last world");
    } catch (const StoreLostError& error) {
      // We may have joined the store of the world before, which rank 0 closes when it leaves that one.
      const bool may_come_back = options.store == nullptr && !options.place.serves_store;
      if (!may_come_back || deadline.expired()) throw;
      PARLEY_LOG(info, "init", "joining again: ", error.what());
    }
  }
}

}  // namespace parley::wireup
