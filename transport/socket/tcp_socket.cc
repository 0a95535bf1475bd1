#include "transport/socket/tcp_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string_view>

#include "transport/socket/crypto.h"

namespace parley::socket {
namespace {

constexpr int keepalive_idle_s = 10;
constexpr int keepalive_interval_s = 2;
constexpr int silence_limit_ms = 10'000;
constexpr std::string_view unpaced = "reno";

// Options are improvements: a kernel that lacks one still gives a working connection.
void set(int socket, int level, int name, int value) noexcept {
  setsockopt(socket, level, name, &value, sizeof(value));
}

}  // namespace

base::UniqueFd open_tcp(const asio::ip::tcp& protocol) noexcept {
  return base::UniqueFd(::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
}

base::UniqueFd accept_tcp(int listening) noexcept {
  return base::UniqueFd(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

void tune(int socket) noexcept {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_s);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_s);
}

void tune_connected(asio::ip::tcp::socket& socket) noexcept {
  asio::error_code no_local, no_remote;
  const auto local = socket.local_endpoint(no_local);
  const auto remote = socket.remote_endpoint(no_remote);
  if (no_local || no_remote) return;
  const int fd = socket.native_handle();
  const bool same_host = remote.address().is_loopback() || remote.address() == local.address();
  if (same_host)
    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, unpaced.data(), static_cast<socklen_t>(unpaced.size()));
  else
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, silence_limit_ms);
}

bool connected_to_itself(const asio::ip::tcp::socket& socket) noexcept {
  asio::error_code no_local, no_remote;
  const auto local = socket.local_endpoint(no_local);
  const auto remote = socket.remote_endpoint(no_remote);
  return !no_local && !no_remote && local == remote;
}

void close_at_once(asio::ip::tcp::socket& socket) noexcept {
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket.native_handle(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  asio::error_code ignored;
  socket.close(ignored);
}

base::UniqueFd take_out(asio::ip::tcp::socket& socket) noexcept {
  asio::error_code error;
  base::UniqueFd fd(socket.release(error));
  if (error) return {};
  const int flags = fcntl(fd.get(), F_GETFL);
  if (flags < 0 || fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) return {};
  return fd;
}

std::string to_text(const asio::ip::tcp::endpoint& endpoint) {
  const std::string host = endpoint.address().to_string();
  const std::string port = std::to_string(endpoint.port());
  return endpoint.address().is_v6() ? "[" + host + "]:" + port : host + ":" + port;
}

std::string forbidden(const asio::ip::address& address) {
  if (proofs_available() || address.is_loopback()) return {};
  return "this build has no OpenSSL (PARLEY_WITH_OPENSSL=OFF) and uses loopback addresses only";
}

}  // namespace parley::socket
