#include "tests/unit/socket/byte_proxy.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <vector>

#include "tests/unit/socket/loopback.h"

namespace parley::socket::testing {
namespace {

base::UniqueFd new_socket() {
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw std::runtime_error("socket");
  return fd;
}

void write_at_once(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

// One direction of one connection.
struct ByteProxy::Pipe {
  int from, to;
  Direction direction;
  std::size_t offset = 0;
  bool open = true;

  // False at the end of the stream, or when nobody takes it any more.
  bool pass(const Change& change, std::atomic<std::size_t>& passed) {
    std::array<std::byte, 256> chunk;
    const ssize_t count = ::recv(from, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    for (ssize_t i = 0; i < count; ++i, ++offset) {
      std::byte byte = chunk[static_cast<std::size_t>(i)];
      if (change) byte = change(direction, offset, byte);
      if (::send(to, &byte, 1, MSG_NOSIGNAL) != 1) return false;
      ++passed;
    }
    return count > 0;
  }
};

ByteProxy::ByteProxy(std::uint16_t listener_port, Change change)
    : listener_port_(listener_port),
      change_(std::move(change)),
      listening_(new_socket()),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  auto address = loopback(0);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listening_.get(), generic, size) != 0 || ::listen(listening_.get(), 64) != 0 ||
      ::getsockname(listening_.get(), generic, &size) != 0)
    throw std::runtime_error("bind");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

ByteProxy::~ByteProxy() {
  const std::uint64_t one = 1;
  if (::write(stop_.get(), &one, sizeof(one)) != sizeof(one)) std::abort();
  thread_.join();
}

void ByteProxy::run() {
  std::vector<base::UniqueFd> sockets;
  std::vector<Pipe> pipes;
  for (;;) {
    std::vector<pollfd> entries{{stop_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
    for (const Pipe& pipe : pipes) entries.push_back({pipe.open ? pipe.from : -1, POLLIN, 0});
    if (::poll(entries.data(), entries.size(), -1) < 0) continue;
    if (entries[0].revents != 0) return;
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      if (entries[i + 2].revents == 0 || pipes[i].pass(change_, bytes_passed_)) continue;
      pipes[i].open = false;
      ::shutdown(pipes[i].to, SHUT_WR);
      // The other end is gone for both directions when it takes nothing any more.
      if (pipes[i ^ 1].open) ::shutdown(pipes[i].from, SHUT_RD);
    }
    if (entries[1].revents == 0) continue;
    base::UniqueFd dialler(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    base::UniqueFd listener = new_socket();
    const auto address = loopback(listener_port_);
    if (!dialler ||
        ::connect(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      continue;
    write_at_once(dialler.get());
    write_at_once(listener.get());
    pipes.push_back({dialler.get(), listener.get(), Direction::to_listener});
    pipes.push_back({listener.get(), dialler.get(), Direction::to_dialler});
    sockets.push_back(std::move(dialler));
    sockets.push_back(std::move(listener));
  }
}

}  // namespace parley::socket::testing
