#pragma once

#include <asio/error_code.hpp>
#include <asio/ip/tcp.hpp>
#include <string>

#include "transport/base/unique_fd.h"

// TCP sockets as Parley wants them. Asio's own open() and accept() leave a moment in which a fork could
// inherit the descriptor, so sockets are made here and given to Asio.
namespace parley::socket {

// Non-blocking and close-on-exec; empty with errno set on failure.
[[nodiscard]] base::UniqueFd open_tcp(const asio::ip::tcp& protocol) noexcept;
[[nodiscard]] base::UniqueFd accept_tcp(int listening) noexcept;

// TCP_NODELAY, and keepalive so that a vanished host is noticed: 10 s idle, then every 2 s. What a listening
// socket accepts inherits both.
void tune(int socket) noexcept;

// What depends on who is at the other end of a connected socket.
// Another host: sent bytes that stay unacknowledged for 10 s end the connection. Not on one host, where
// nobody is lost silently: the kernel counts a peer that merely does not read (a debugger holds it) as lost
// too. This host: Reno, which every process may choose, instead of the system's congestion control. There is
// nothing to control, and one that paces what is sent (BBR) has timers interrupt both ends.
void tune_connected(asio::ip::tcp::socket& socket) noexcept;

// A dial to a free port in the ephemeral range can connect to its own port and talk to itself.
[[nodiscard]] bool connected_to_itself(const asio::ip::tcp::socket& socket) noexcept;
// Closes it by a reset, which leaves the port free for the listener that should have it.
void close_at_once(asio::ip::tcp::socket& socket) noexcept;

// Takes the descriptor out of Asio, non-blocking; empty when the connection is gone.
[[nodiscard]] base::UniqueFd take_out(asio::ip::tcp::socket& socket) noexcept;

// "127.0.0.1:4242", "[::1]:4242"
[[nodiscard]] std::string to_text(const asio::ip::tcp::endpoint& endpoint);

// Empty when a build without OpenSSL may use the address, else why it may not.
[[nodiscard]] std::string forbidden(const asio::ip::address& address);

}  // namespace parley::socket
