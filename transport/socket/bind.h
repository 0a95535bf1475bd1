#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

namespace parley::socket {

// A listening, non-blocking, close-on-exec acceptor on the first address of `host` that can be bound, and on
// no other. Port 0 means any free one: of PARLEY_PORT_RANGE, where all are tried from a random one on, else
// of the kernel's choice. Resolves names while the caller waits. Throws parley::SystemError naming each
// address tried, and the range; UsageError when that is malformed.
[[nodiscard]] asio::ip::tcp::acceptor bind_and_listen(asio::io_context& context, const std::string& host,
                                                      std::uint16_t port);

}  // namespace parley::socket
