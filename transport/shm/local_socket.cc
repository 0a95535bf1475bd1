#include "transport/shm/local_socket.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "transport/base/log.h"
#include "transport/socket/random.h"
#include "transport/socket/refusal.h"

namespace parley::transport::shm {

using base::Code;
using base::Status;
using base::UniqueFd;

namespace {

constexpr std::string_view prefix = "parley-";
// More than ranks of one host dial at once; the kernel may allow fewer.
constexpr int waiting_connections = 4096;

struct Address {
  sockaddr_un socket{};
  socklen_t bytes = 0;
};

// Abstract: a zero in front, and none at the end.
Address address_of(std::string_view name) {
  Address address;
  address.socket.sun_family = AF_UNIX;
  char* path = address.socket.sun_path + 1;
  std::memcpy(path, prefix.data(), prefix.size());
  std::memcpy(path + prefix.size(), name.data(), name.size());
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + prefix.size() + name.size());
  return address;
}

bool fits(std::string_view name) {
  return !name.empty() && prefix.size() + name.size() + 1 <= sizeof(sockaddr_un::sun_path);
}

UniqueFd make_socket() {
  return UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

base::Failure failure(const char* call) {
  const int error = errno;
  return {{error == EMFILE || error == ENFILE || error == ENOMEM ? Code::exhausted : Code::io_error, error},
          base::concat(call, ": ", std::system_category().message(error))};
}

base::Result<ucred> credentials_of(const UniqueFd& socket) {
  ucred credentials{};
  socklen_t bytes = sizeof(credentials);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0)
    return failure("SO_PEERCRED");
  return credentials;
}

// Tied to the very process behind the socket, or, with an older kernel, to its number, which cannot be used
// again while the process still takes part in the introduction.
UniqueFd end_of_life_of(const UniqueFd& socket, pid_t process) noexcept {
#ifdef SO_PEERPIDFD
  constexpr int peer_pidfd = SO_PEERPIDFD;
#else
  constexpr int peer_pidfd = 77;
#endif
  int descriptor = -1;
  socklen_t bytes = sizeof(descriptor);
  if (::getsockopt(socket.get(), SOL_SOCKET, peer_pidfd, &descriptor, &bytes) == 0)
    return UniqueFd(descriptor);
  if (process <= 0) return {};
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

// Room for the descriptors of one message, aligned as the kernel wants it.
union Ancillary {
  cmsghdr header;
  char bytes[CMSG_SPACE(most_handed_over * sizeof(int))];
};

void take_descriptors(msghdr& parts, HandedOver& descriptors, std::size_t& count) noexcept {
  for (cmsghdr* part = CMSG_FIRSTHDR(&parts); part != nullptr; part = CMSG_NXTHDR(&parts, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t here = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < here; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      UniqueFd owned(descriptor);  // closed here when there is no place for it
      if (count < descriptors.size()) descriptors[count] = std::move(owned);
      ++count;
    }
  }
}

}  // namespace

LocalListener::LocalListener(UniqueFd socket, std::string name)
    : socket_(std::move(socket)), name_(std::move(name)) {}

base::Result<LocalListener> LocalListener::open() {
  std::array<std::byte, 16> random;
  if (!socket::fill_random(random)) return base::Failure{Code::io_error, "the system gave no random bytes"};
  std::string name = socket::to_hex(random);
  UniqueFd listening = make_socket();
  if (!listening) return failure("socket");
  const Address address = address_of(name);
  if (::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address.socket), address.bytes) != 0)
    return failure("bind");
  if (::listen(listening.get(), waiting_connections) != 0) return failure("listen");
  return LocalListener(std::move(listening), std::move(name));
}

UniqueFd LocalListener::accept() noexcept {
  for (;;) {
    UniqueFd accepted(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted || errno != EINTR) return accepted;
  }
}

base::Result<UniqueFd> connect_locally(std::string_view name) {
  if (!fits(name)) return base::Failure{Code::unreachable, "this is no name of a local socket"};
  UniqueFd connected = make_socket();
  if (!connected) return failure("socket");
  const Address address = address_of(name);
  while (::connect(connected.get(), reinterpret_cast<const sockaddr*>(&address.socket), address.bytes) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return base::Failure{Code::again};
    return failure("connect");
  }
  return connected;
}

base::Result<uid_t> user_of(const UniqueFd& socket) {
  const auto credentials = credentials_of(socket);
  if (!credentials) return credentials.failure();
  return credentials.value().uid;
}

base::Result<Partner> partner_of(const UniqueFd& socket) {
  const auto found = credentials_of(socket);
  if (!found) return found.failure();
  const ucred& credentials = found.value();
  return Partner{credentials.uid, credentials.pid, end_of_life_of(socket, credentials.pid)};
}

Status send_message(const UniqueFd& socket, std::span<const std::byte> message,
                    std::span<const int> descriptors) noexcept {
  iovec body{const_cast<std::byte*>(message.data()), message.size()};
  msghdr parts{};
  parts.msg_iov = &body;
  parts.msg_iovlen = 1;
  Ancillary ancillary{};
  if (!descriptors.empty()) {
    parts.msg_control = &ancillary;
    parts.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    ancillary.header.cmsg_level = SOL_SOCKET;
    ancillary.header.cmsg_type = SCM_RIGHTS;
    ancillary.header.cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(&ancillary.header), descriptors.data(), descriptors.size_bytes());
  }
  for (;;) {
    if (::sendmsg(socket.get(), &parts, MSG_NOSIGNAL) >= 0) return {};
    if (errno == EINTR) continue;
    // So many descriptors may be on their way as a process of this user may have open. Whoever they are for
    // will read them.
    if (errno == EAGAIN || errno == ETOOMANYREFS) return Code::again;
    const bool is_gone = errno == EPIPE || errno == ECONNRESET;
    return {is_gone ? Code::peer_died : Code::io_error, errno};
  }
}

Status receive_message(const UniqueFd& socket, std::span<std::byte> message,
                       HandedOver& descriptors) noexcept {
  iovec body{message.data(), message.size()};
  Ancillary ancillary{};
  msghdr parts{};
  parts.msg_iov = &body;
  parts.msg_iovlen = 1;
  parts.msg_control = &ancillary;
  parts.msg_controllen = sizeof(ancillary);
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket.get(), &parts, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return Code::again;
  // Of the peer's end this tells nothing, and what came is still there.
  if (got < 0 && (errno == ENOMEM || errno == ENOBUFS)) return {Code::again, errno};
  if (got < 0) return {Code::peer_died, errno};
  std::size_t count = 0;
  take_descriptors(parts, descriptors, count);
  if (got == 0) return Code::peer_died;
  // A descriptor that there was no number for, in a message that is all right.
  if ((parts.msg_flags & MSG_CTRUNC) != 0 && count < descriptors.size() &&
      static_cast<std::size_t>(got) == message.size())
    return Code::exhausted;
  const bool is_cut = (parts.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  if (is_cut || static_cast<std::size_t>(got) != message.size() || count > descriptors.size())
    return Code::protocol_violation;
  return {};
}

}  // namespace parley::transport::shm
