#include "bench/raw_link.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace parley::bench {
namespace {

constexpr std::chrono::seconds patience{30};

// The clock is read so rarely that the loops do not notice: an empty poll takes about 0.3 us.
constexpr std::uint64_t polls_per_check = std::uint64_t{1} << 20;

// Of Idle::look: an answer takes about 5 us.
constexpr std::uint64_t polls_of_look = 16;

constexpr const char* partner_gone = "raw link: the partner has closed the connection or died";

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), std::string("raw link: ") + call);
}

// Not now, but perhaps at the next call.
bool is_transient(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

sockaddr_in loopback(std::uint16_t port) noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

base::UniqueFd make_socket() {
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) fail("socket");
  return fd;
}

// Reno: a limit is not paced, whatever the system's congestion control does. Every process may choose it.
void tune(int fd) {
  const int on = 1;
  if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) fail("setsockopt(TCP_NODELAY)");
  constexpr std::string_view unpaced = "reno";
  if (::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, unpaced.data(), unpaced.size()) != 0)
    fail("setsockopt(TCP_CONGESTION)");
}

}  // namespace

RawLink::RawLink(base::UniqueFd connection, Idle idle) : connection_(std::move(connection)), idle_(idle) {
  tune(connection_.get());
}

std::size_t RawLink::try_send(const std::uint8_t* data, std::size_t bytes) {
  const ssize_t sent = ::send(connection_.get(), data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && !is_transient(errno)) fail("send");
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

std::size_t RawLink::try_receive(std::uint8_t* data, std::size_t bytes) {
  const ssize_t received = ::recv(connection_.get(), data, bytes, MSG_DONTWAIT);
  if (received == 0) throw std::runtime_error(partner_gone);
  if (received < 0 && !is_transient(errno)) fail("recv");
  return received < 0 ? 0 : static_cast<std::size_t>(received);
}

void RawLink::send(const std::uint8_t* data, std::size_t bytes) {
  Stall stall;
  while (bytes > 0) {
    const std::size_t sent = try_send(data, bytes);
    if (sent == 0) {
      pause("send", stall);
      continue;
    }
    stall = {};
    data += sent;
    bytes -= sent;
  }
}

void RawLink::receive(std::uint8_t* data, std::size_t bytes) {
  Stall stall;
  while (bytes > 0) {
    const std::size_t received = try_receive(data, bytes);
    if (received == 0) {
      pause("recv", stall);
      continue;
    }
    stall = {};
    data += received;
    bytes -= received;
  }
}

void RawLink::exchange(const std::uint8_t* out, std::uint8_t* in, std::size_t piece, std::size_t bytes) {
  std::size_t sent = 0;
  std::size_t received = 0;
  // To the end of the piece, or of all.
  const auto room = [&](std::size_t done) { return std::min(piece - done % piece, bytes - done); };
  Stall stall;
  while (sent < bytes || received < bytes) {
    const std::size_t more_sent = sent < bytes ? try_send(out + sent % piece, room(sent)) : 0;
    const std::size_t more_received =
        received < bytes ? try_receive(in + received % piece, room(received)) : 0;
    if (more_sent + more_received == 0) {
      pause("send and recv", stall);
      continue;
    }
    stall = {};
    sent += more_sent;
    received += more_received;
  }
}

void RawLink::expect_open() const {
  std::uint8_t byte = 0;
  const ssize_t peeked = ::recv(connection_.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  if (peeked == 0) throw std::runtime_error(partner_gone);
  if (peeked < 0 && !is_transient(errno)) fail("recv");
}

void RawLink::pause(const char* call, Stall& stall) const {
  ++stall.polls;
  if (idle_ == Idle::sleep) std::this_thread::sleep_for(nap);
  if (idle_ == Idle::yield || (idle_ == Idle::look && stall.polls > polls_of_look)) ::sched_yield();
  if (stall.polls % polls_per_check != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (stall.polls == polls_per_check) stall.first_check = now;
  if (now - stall.first_check > patience) {
    throw std::runtime_error(std::string("raw link: nothing moved for 30 s in ") + call);
  }
}

RawListener::RawListener() : socket_(make_socket()) {
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof(address);
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) fail("bind");
  if (::listen(socket_.get(), 1) != 0) fail("listen");
  if (::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) fail("getsockname");
  port_ = ntohs(address.sin_port);
}

base::UniqueFd RawListener::accept() const {
  pollfd wait{socket_.get(), POLLIN, 0};
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(patience);
  int ready = 0;
  do {
    ready = ::poll(&wait, 1, static_cast<int>(limit.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) fail("poll");
  if (ready == 0) throw std::runtime_error("raw link: the partner has not connected within 30 s");
  base::UniqueFd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection) fail("accept");
  return connection;
}

base::UniqueFd connect_raw(std::uint16_t port) {
  base::UniqueFd fd = make_socket();
  const sockaddr_in address = loopback(port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) fail("connect");
  return fd;
}

}  // namespace parley::bench
