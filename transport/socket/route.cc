#include "transport/socket/route.h"

#include <parley/error.h>
#include <sys/socket.h>

#include <asio/io_context.hpp>
#include <asio/ip/udp.hpp>
#include <cerrno>
#include <optional>
#include <system_error>

#include "transport/base/log.h"
#include "transport/base/unique_fd.h"

namespace parley::socket {
namespace {

using asio::ip::udp;

// Connecting a datagram socket only looks up the route. Nothing, with errno set, when there is none.
std::optional<udp::endpoint> source_towards(const udp::endpoint& remote) {
  const base::UniqueFd probe(::socket(remote.protocol().family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  udp::endpoint local;
  auto size = static_cast<socklen_t>(local.capacity());
  const bool found = probe &&
                     ::connect(probe.get(), remote.data(), static_cast<socklen_t>(remote.size())) == 0 &&
                     ::getsockname(probe.get(), local.data(), &size) == 0;
  if (!found) return std::nullopt;
  local.resize(size);
  return local;
}

}  // namespace

std::string address_towards(const std::string& host) {
  asio::io_context context;
  asio::error_code error;
  udp::resolver resolver(context);
  const auto found = resolver.resolve(host, "9", udp::resolver::numeric_service, error);  // any port will do
  if (error) throw SystemError(base::concat("cannot resolve '", host, "': ", error.message()));
  for (const auto& entry : found)
    if (const auto local = source_towards(entry.endpoint())) return local->address().to_string();
  throw SystemError(base::concat("no route to '", host, "': ", std::system_category().message(errno)));
}

}  // namespace parley::socket
