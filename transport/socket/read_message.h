#pragma once

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/error_code.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

namespace parley::socket {

// Fills `into` and not a byte more, then calls handler(error). Gives up with errc::protocol_error at the
// first byte that differs from `magic`, so that who speaks another protocol is known by its first byte and
// does not hold a place until it has sent a whole message. `into` and the socket live until the handler ran,
// which is what the handler's captures are for.
template <typename Handler>
void read_message(asio::ip::tcp::socket& socket, std::span<std::byte> into, std::span<const std::byte> magic,
                  Handler handler, std::size_t have = 0) {
  const auto rest = into.subspan(have);
  socket.async_read_some(
      asio::buffer(rest.data(), rest.size()), [&socket, into, magic, have, handler = std::move(handler)](
                                                  asio::error_code error, std::size_t count) mutable {
        if (error) return handler(error);
        const std::size_t now = have + count;
        const std::size_t known = std::min(now, magic.size());
        if (!std::equal(magic.begin(), magic.begin() + static_cast<std::ptrdiff_t>(known), into.begin()))
          return handler(std::make_error_code(std::errc::protocol_error));
        if (now == into.size()) return handler(asio::error_code{});
        read_message(socket, into, magic, std::move(handler), now);
      });
}

}  // namespace parley::socket
