#include "tests/unit/socket/meeting.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "tests/unit/socket/exchange.h"
#include "tests/unit/socket/loopback.h"

namespace parley::socket::testing {
namespace {

using namespace std::chrono_literals;

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

base::UniqueFd non_blocking_socket() {
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  EXPECT_TRUE(fd);
  return fd;
}

}  // namespace

base::Deadline guard() {
  return base::Deadline::after(60s);
}

std::map<int, std::string> open_descriptors() {
  std::map<int, std::string> open;
  std::error_code gone;  // the descriptor of this listing itself
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    if (fcntl(fd, F_GETFD) >= 0) open[fd] = std::filesystem::read_symlink(entry.path(), gone).string();
  }
  std::erase_if(open, [](const auto& item) { return item.second.find("/proc/") == 0; });
  return open;
}

bool run_until(Reactor& reactor, const std::function<bool()>& done) {
  const auto deadline = guard();
  while (!done()) {
    if (deadline.expired()) return false;
    reactor.announce_sleep();
    reactor.sleep(base::Deadline::after(5ms));  // `done` may hang on what is no reactor's business
  }
  return true;
}

void run_ready(Reactor& reactor) {
  while (reactor.poll() > 0) {
  }
}

RawPeer RawPeer::connect_to(std::uint16_t port) {
  RawPeer peer(non_blocking_socket());
  const auto address = loopback(port);
  // Loopback connects at once where the backlog has room; where not, the SYN stays on its way.
  const int result = ::connect(peer.fd(), generic(address), sizeof(address));
  EXPECT_TRUE(result == 0 || errno == EINPROGRESS);
  return peer;
}

void RawPeer::send(std::span<const std::byte> bytes) {
  const auto deadline = guard();
  while (!bytes.empty() && !deadline.expired()) {
    const ssize_t count = connection_.send(bytes.data(), bytes.size());
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
    if (count < 0 && errno == EAGAIN) return;  // noise that the other side does not read
    if (count < 0 && errno != EINTR) return;   // closed by the other side
  }
}

void RawPeer::receive() {
  std::array<std::byte, 4096> chunk;
  while (!closed_) {
    const ssize_t count = connection_.receive(chunk.data(), chunk.size());
    if (count < 0 && (errno == EAGAIN || errno == ENOTCONN)) return;
    if (count <= 0) closed_ = true;
    if (count > 0) received_.insert(received_.end(), chunk.begin(), chunk.begin() + count);
  }
}

void RawPeer::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  connection_ = {};
  closed_ = true;
}

ReservedPort::ReservedPort() : fd_(non_blocking_socket()) {
  // With it set on both, another socket may bind the port as well as long as this one does not listen.
  const int on = 1;
  setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  auto address = loopback(0);
  EXPECT_EQ(::bind(fd_.get(), generic(address), sizeof(address)), 0);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  number_ = ntohs(address.sin_port);
}

void ReservedPort::listen(int backlog) {
  EXPECT_EQ(::listen(fd_.get(), backlog), 0);
}

RawPeer ReservedPort::accept() {
  return RawPeer(base::UniqueFd(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
}

Meeting::Meeting() = default;

void Meeting::TearDown() {
  arrivals_.clear();
  run_ready(*reactor_);
  reactor_.reset();
  EXPECT_EQ(open_descriptors(), before_);
}

ListenerOptions Meeting::process_2() {
  ListenerOptions options;
  options.self = 2;
  return options;
}

Credentials Meeting::right() {
  return credentials_of(right_secret);
}

Listener::Handler Meeting::collect() {
  return [this](Connection socket, const Identity& identity) {
    arrivals_.push_back({std::move(socket), identity});
  };
}

std::unique_ptr<Listener> Meeting::listen(ListenerOptions options) {
  return std::make_unique<Listener>(*reactor_, options, right(), collect());
}

base::Result<Connection> Meeting::dial_now(const DialTarget& target, const Identity& identity,
                                           const Credentials& credentials, base::Deadline deadline) {
  std::optional<base::Result<Connection>> result;
  dial(*reactor_, target, identity, credentials, deadline, [&](base::Result<Connection> outcome) {
    EXPECT_FALSE(result) << "the handler ran twice";
    result.emplace(std::move(outcome));
  });
  EXPECT_FALSE(result) << "the handler ran inside dial()";
  if (!run_until(*reactor_, [&] { return result.has_value(); }))
    return base::Failure{base::Code::aborted, "the dial never ended"};
  return std::move(*result);
}

base::Result<Connection> Meeting::dial_now(const std::string& host, std::uint16_t port,
                                           base::Deadline deadline) {
  return dial_now({host, port}, from_1_to_2(), right(), deadline);
}

void Meeting::expect_right_client_gets_in(Listener& listener) {
  const auto count = arrivals_.size();
  auto socket = dial_now(listener.host(), listener.port());
  ASSERT_TRUE(socket.ok()) << socket.failure().message;
  ASSERT_TRUE(run_until(*reactor_, [&] { return arrivals_.size() == count + 1; }));
  EXPECT_EQ(arrivals_.back().identity.from, 1u);
}

}  // namespace parley::socket::testing
