#include "transport/socket/listener.h"

#include <parley/error.h>

#include <utility>

#include "transport/base/log.h"
#include "transport/socket/acceptor.h"
#include "transport/socket/reactor_context.h"

namespace parley::socket {

// `credentials` is taken by value for the interface's sake; only the key derived from them is kept.
Listener::Listener(Reactor& reactor, const ListenerOptions& options, Credentials credentials,
                   Handler handler) {
  auto key = JobKey::make(credentials);
  if (!key)
    throw SystemError(
        base::concat("cannot listen on ", options.host, " port ", options.port, ": ", key.failure().message));
  impl_ = std::make_shared<Impl>(reactor.impl().context, options, key.value(), std::move(handler));
  impl_->start();
}

Listener::~Listener() {
  impl_->close();
}

std::string Listener::host() const {
  return impl_->bound.address().to_string();
}
std::uint16_t Listener::port() const {
  return impl_->bound.port();
}
void Listener::stop() {
  impl_->stop();
}

}  // namespace parley::socket
