#include "api/wireup/world.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "api/wireup/card_desk.h"
#include "api/wireup/last_word.h"
#include "api/wireup/lookout.h"
#include "api/wireup/rank_claim.h"
#include "transport/base/log.h"
#include "transport/shm/arena.h"

namespace parley::wireup {
namespace {

constexpr auto device_look_period = std::chrono::milliseconds(1);

// So that a process of another host may have the rank next.
void give_up_claim(const World& world) noexcept {
  const auto store = world.store.get();
  if (store != nullptr && world.has_claim) give_up_rank(*store, world.rank);
}

}  // namespace

World::World() = default;

std::string World::describe_link(int other) const {
  const auto number = static_cast<std::uint32_t>(other);
  return engine->inspect([&](const transport::Messenger& messenger) {
    const std::string name = name_of(other);
    if (!messenger.known_peers().is_made(number)) return base::concat("on demand to ", name);
    const transport::Peer& peer = messenger.peer(number);
    if (peer.endpoint == nullptr) {
      if (peer.state == transport::PeerState::expected) return base::concat("on demand to ", name);
      const bool has_left = peer.reason.code() == base::Code::peer_left;
      return base::concat("no link to ", name, ": ", has_left ? "it has left" : peer.reason.describe());
    }
    const transport::Endpoint& link = *peer.endpoint;
    std::string text = base::concat("link to ", name, ": ", link.transport);
    const auto card = roster->card(other);
    if (link.transport == "tcp" && card) text += ' ' + card->tcp_address;
    if (link.mover != nullptr) text += ", " + link.mover->describe();
    if (devices.api() != nullptr)
      text += ", " + (peer.device_mover != nullptr ? peer.device_mover->describe()
                                                   : std::string("device memory by way of the host"));
    const std::string& obstacles = ladder.obstacles(number);
    return obstacles.empty() ? text : base::concat(text, " (", obstacles, ')');
  });
}

std::string World::group_key(std::string_view name) const {
  return base::concat(groups_prefix, name);
}

base::Result<std::shared_ptr<void>> World::allocate_shared(std::size_t bytes) const {
  if (arena == nullptr)
    return base::Failure{base::Code::closed, "there is no shared memory between the ranks of this world"};
  auto memory = arena->allocate(bytes);
  if (!memory) return memory.failure();
  return std::shared_ptr<void>(std::move(memory).value());
}

World::~World() {
  if (engine != nullptr && engine->in_forked_child()) {
    // Closing would reach into sockets and epoll sets that the parent shares with us: leave it all alone.
    [[maybe_unused]] auto* engine_of_parent = engine.release();
    [[maybe_unused]] auto* lookout_of_parent = lookout.release();
    [[maybe_unused]] auto* card_desk_of_parent = card_desk.release();
    [[maybe_unused]] auto* hub_of_parent = self_hub.release();
    [[maybe_unused]] auto* server_of_parent = store_server.release();
    store.leak_in_child();
    return;
  }
  leave(default_linger);
}

void World::leave(std::chrono::nanoseconds linger) {
  if (engine == nullptr) return;
  // Who joins in vain needed everybody; while an exception unwinds, it may be the store that told of the
  // death.
  const bool any_was_needed = !complete || std::uncaught_exceptions() > 0;
  const auto culprit = engine->inspect([&](const transport::Messenger& messenger) {
    const auto dead = messenger.dead_process();
    return dead || !any_was_needed ? dead : messenger.known_death();
  });
  const auto deadline = base::Deadline::after(linger);
  // What is still to be matched may have our device copy.
  const auto no_sends = [](const transport::Messenger& messenger) { return messenger.live_sends() == 0; };
  if (!culprit && devices.api() != nullptr) (void)engine->wait_until(no_sends, deadline.remaining());
  wait_for_devices(deadline);
  if (lookout != nullptr) lookout->stop();
  leave_last_word(*this, culprit ? std::optional<int>(static_cast<int>(*culprit)) : std::nullopt);
  // Whoever serves the store stays until the others have left: they may still need it.
  const bool hears_goodbyes = complete && !on_demand;
  const auto undelivered = engine->leave(culprit, store_server != nullptr && hears_goodbyes, linger);
  if (card_desk != nullptr) card_desk->stop();  // what was sent may have needed a link
  if (undelivered != 0) PARLEY_LOG(warn, "p2p", "leaving with ", undelivered, " messages not delivered");
  give_up_claim(*this);
  store.reset();
  // Those who joined in vain, like us, read in the store who is missing; those without a link to us say
  // goodbye to nobody but the store.
  if (store_server != nullptr && !hears_goodbyes) store_server->wait_for_no_clients(deadline.remaining());
  store_server.reset();
}

void World::await(const std::shared_ptr<DeviceWork>& work) {
  engine->locked([&](transport::Messenger&) {
    std::erase_if(device_work, [](const auto& known) { return known.expired(); });
    device_work.push_back(work);
  });
}

// What our device still has to write or to read, others wait for on theirs, and it ends with this process.
void World::wait_for_devices(base::Deadline deadline) {
  const auto are_idle = [this](const transport::Messenger&) {
    const bool is_all_copied = std::all_of(device_movers.begin(), device_movers.end(),
                                           [](const auto& mover) { return mover->is_idle(); });
    return is_all_copied && std::all_of(device_work.begin(), device_work.end(), [](const auto& known) {
             const auto work = known.lock();
             return work == nullptr || work->is_done();
           });
  };
  while (!engine->locked(are_idle)) {
    if (deadline.expired()) {
      PARLEY_LOG(warn, "cuda", "leaving before devices have done what this rank has told them");
      // From here on nobody would hear of the end of those that our streams wait for.
      engine->locked([this](const transport::Messenger&) {
        for (const auto& mover : device_movers) mover->give_up_waiting();
      });
      return;
    }
    engine->wait_until([](const transport::Messenger&) { return false; }, device_look_period);
  }
}

std::string World::name_of(int number) const {
  return roster->name_of(number);
}

}  // namespace parley::wireup
