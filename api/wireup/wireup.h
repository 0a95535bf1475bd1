#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "api/wireup/world.h"
#include "rendezvous/discovery.h"

namespace parley::wireup {

struct WireupOptions {
  rendezvous::Place place;
  std::shared_ptr<Store> store;  // given by the user; then the place's store is not used
  std::string host;              // to listen on and to advertise; empty: see socket::own_address()
  std::string secret;            // empty: see socket::resolve_credentials()
  std::optional<bool> tls;       // not given: PARLEY_TLS
  std::chrono::nanoseconds timeout{};
  std::chrono::nanoseconds init_timeout{};
};

// The composition root: makes this rank's store, transports and engine and links it to every other rank. The
// only place that names concrete transports. Throws InitError naming the missing or unreachable ranks,
// StoreError, UsageError.
std::unique_ptr<World> wire_up(const WireupOptions& options);

}  // namespace parley::wireup
