#include "transport/socket/dial.h"

#include <asio/post.hpp>
#include <memory>
#include <utility>

#include "transport/socket/dialler.h"
#include "transport/socket/reactor_context.h"

namespace parley::socket {

void dial(Reactor& reactor, const DialTarget& target, const Identity& identity,
          const Credentials& credentials, base::Deadline deadline, DialHandler handler) {
  asio::io_context& context = reactor.impl().context;
  auto key = JobKey::make(credentials);
  // Posted: the handler runs on the reactor and never inside this call, and only the reactor's thread touches
  // what the dial consists of.
  if (!key) {
    asio::post(context, [handler = std::move(handler), failure = key.failure()] { handler(failure); });
    return;
  }
  auto dialler =
      std::make_shared<Dialler>(context, target, identity, key.value(), deadline, std::move(handler));
  asio::post(context, [dialler] { dialler->start(); });
}

}  // namespace parley::socket
