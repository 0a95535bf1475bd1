#include "transport/socket/route.h"

#include <parley/error.h>

#include <asio/io_context.hpp>
#include <asio/ip/udp.hpp>

#include "transport/base/log.h"

namespace parley::socket {

std::string address_towards(const std::string& host) {
  asio::io_context context;
  asio::error_code error;
  asio::ip::udp::resolver resolver(context);
  const auto found = resolver.resolve(host, "9", error);  // any port: nothing is sent
  if (error) throw SystemError(base::concat("cannot resolve '", host, "': ", error.message()));
  for (const auto& entry : found) {
    asio::ip::udp::socket probe(context);
    // Connecting a datagram socket only looks up the route.
    probe.open(entry.endpoint().protocol(), error);
    if (!error) probe.connect(entry.endpoint(), error);
    if (!error) {
      const auto local = probe.local_endpoint(error);
      if (!error) return local.address().to_string();
    }
  }
  throw SystemError(base::concat("no route to '", host, "': ", error.message()));
}

}  // namespace parley::socket
