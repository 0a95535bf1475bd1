#include "api/wireup/world.h"

#include <thread>

#include "transport/base/log.h"

namespace parley::wireup {
namespace {

// The others may still need the store that we serve; ours is the last connection to it.
void await_clients(const TcpStoreServer& server, base::Deadline deadline) {
  while (server.client_count() > 1 && !deadline.expired())
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (server.client_count() > 1)
    PARLEY_LOG(warn, "store", "closing the store while ", server.client_count() - 1, " ranks still use it");
}

}  // namespace

World::World() = default;

World::~World() {
  if (engine != nullptr && engine->in_forked_child()) {
    // Closing would reach into sockets and epoll sets that the parent shares with us: leave it all alone.
    [[maybe_unused]] auto* engine_of_parent = engine.release();
    [[maybe_unused]] auto* hub_of_parent = self_hub.release();
    [[maybe_unused]] auto* server_of_parent = store_server.release();
    [[maybe_unused]] auto* store_of_parent = new std::shared_ptr<Store>(std::move(store));
    return;
  }
  leave(default_linger);
}

void World::leave(std::chrono::nanoseconds linger) {
  if (engine == nullptr) return;
  const auto deadline = base::Deadline::after(linger);
  const auto culprit = engine->locked([](const transport::Messenger& m) { return m.first_casualty(); });
  if (const std::size_t undelivered = engine->leave(culprit, linger); undelivered != 0)
    PARLEY_LOG(warn, "p2p", "leaving with ", undelivered, " messages not delivered");
  if (store_server != nullptr) await_clients(*store_server, deadline);
}

std::string World::name_of(int number) const {
  const auto& card = cards[static_cast<std::size_t>(number)];
  return base::concat("rank ", number, " (", card.host, ", pid ", card.pid, ")");
}

}  // namespace parley::wireup
