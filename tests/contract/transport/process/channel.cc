#include "tests/contract/transport/process/channel.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>

namespace parley::transport::contract {
namespace {

// What goes in front of the body.
struct Front {
  Verb verb;
  Endpoint::Urgency urgency;
  PeerId peer;
  std::uint64_t link;
  std::uint64_t number;
  base::Status status;
  PacketHeader packet;
  std::uint64_t body_bytes;
};

bool send_all(int socket, const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket, next, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    next += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

void Channel::limit_silence(std::chrono::milliseconds longest) {
  timeval time{};
  time.tv_sec = longest.count() / 1000;
  time.tv_usec = longest.count() % 1000 * 1000;
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

bool Channel::send(const Message& message) {
  const Front front{message.verb,   message.urgency, message.peer,   message.link,
                    message.number, message.status,  message.packet, message.body.size()};
  return send_all(socket_.get(), &front, sizeof(front)) &&
         send_all(socket_.get(), message.body.data(), message.body.size());
}

bool Channel::receive_all(void* data, std::size_t bytes) {
  char* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t received = ::recv(socket_.get(), next, bytes, 0);
    if (received < 0 && errno == EINTR) continue;
    is_silent_ = received < 0 && errno == EAGAIN;
    if (received <= 0) return false;
    next += received;
    bytes -= static_cast<std::size_t>(received);
  }
  return true;
}

bool Channel::receive(Message& message) {
  Front front{};
  if (!receive_all(&front, sizeof(front))) return false;
  message = {front.verb,   front.urgency, front.peer,   front.link,
             front.number, front.status,  front.packet, std::vector<std::byte>(front.body_bytes)};
  return receive_all(message.body.data(), message.body.size());
}

}  // namespace parley::transport::contract
