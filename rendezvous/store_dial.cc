#include "rendezvous/store_dial.h"

#include <optional>
#include <utility>

#include "transport/base/deadline.h"
#include "transport/socket/dial.h"
#include "transport/socket/identity.h"
#include "transport/socket/reactor.h"
#include "transport/socket/secret.h"

namespace parley::rendezvous {

base::Result<socket::Connection> dial_store(const TcpStoreOptions& options) {
  const auto deadline = base::Deadline::after(options.timeout);
  const socket::Credentials credentials = socket::resolve_credentials(options.secret, options.tls);
  std::optional<base::Result<socket::Connection>> outcome;
  socket::Reactor reactor;  // of this call alone: the client needs none afterwards
  socket::dial(reactor, {options.host, options.port}, {.purpose = socket::Purpose::store}, credentials,
               deadline,
               [&outcome](base::Result<socket::Connection> result) { outcome = std::move(result); });
  // Bounded: dial() reports by its deadline, which is a timer on this reactor.
  while (!outcome) {
    reactor.announce_sleep();
    reactor.sleep(base::Deadline::never());
  }
  return *std::move(outcome);
}

}  // namespace parley::rendezvous
