#include "transport/socket/listener.h"

#include <parley/error.h>

#include <atomic>
#include <utility>

#include "transport/base/log.h"
#include "transport/socket/acceptor.h"
#include "transport/socket/reactor_context.h"
#include "transport/socket/tcp_socket.h"

namespace parley::socket {
namespace {

void warn_that_all_may_come(const std::string& where) {
  static std::atomic<bool> warned{false};
  // relaxed: the flag guards no other data.
  if (warned.exchange(true, std::memory_order_relaxed)) return;
  PARLEY_LOG(warn, "socket", "PARLEY_AUTH=off: whoever reaches ", where,
             " or another address of this process can join the job, read and change its data");
}

}  // namespace

// `credentials` is taken by value for the interface's sake; only the key derived from them is kept.
Listener::Listener(Reactor& reactor, const ListenerOptions& options, Credentials credentials,
                   Handler handler) {
  auto key = JobKey::make(credentials);
  if (!key)
    throw SystemError(
        base::concat("cannot listen on ", options.host, " port ", options.port, ": ", key.failure().message));
  impl_ = std::make_shared<Impl>(reactor.impl().context, options, key.value(), std::move(handler));
  if (!key.value()->authenticates()) {
    if (impl_->bound.address().is_unspecified())
      throw SystemError(
          base::concat("cannot listen on ", to_text(impl_->bound),
                       ": with PARLEY_AUTH=off everybody could join from everywhere; bind to one "
                       "address, or set PARLEY_AUTH=on"));
    warn_that_all_may_come(to_text(impl_->bound));
  }
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
