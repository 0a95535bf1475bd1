#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "transport/base/unique_fd.h"
#include "transport/socket/secure_stream.h"

namespace parley::socket {

// A connection to a process of the job: a connected, non-blocking, close-on-exec socket with TCP_NODELAY, and
// TLS over it if the job is encrypted. Without TLS each call is the system call and one branch.
// Thread-safety: one thread may send while another receives.
class Connection {
 public:
  Connection() noexcept = default;
  explicit Connection(base::UniqueFd socket, std::unique_ptr<SecureStream> tls = nullptr) noexcept
      : socket_(std::move(socket)), tls_(std::move(tls)) {}

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(socket_); }
  // For poll(2), shutdown(2) and socket options; its bytes may be encrypted.
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  [[nodiscard]] bool encrypted() const noexcept { return tls_ != nullptr; }

  // As send(2), sendmsg(2), recv(2), readv(2): -1 with errno set, EAGAIN when the socket is full or empty, no
  // SIGPIPE. After EAGAIN with sending() the next send must begin with the same bytes.
  ssize_t send(const void* data, std::size_t bytes) noexcept {
    if (tls_ != nullptr) [[unlikely]]
      return send_encrypted(data, bytes);
    return ::send(socket_.get(), data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  ssize_t send(std::span<const iovec> parts) noexcept {
    if (tls_ != nullptr) [[unlikely]]
      return tls_->send(parts);
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts.data());  // sendmsg only reads
    message.msg_iovlen = parts.size();
    return ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  ssize_t receive(void* into, std::size_t bytes) noexcept {
    if (tls_ != nullptr) [[unlikely]]
      return receive_encrypted(into, bytes);
    return ::recv(socket_.get(), into, bytes, MSG_DONTWAIT);
  }
  ssize_t receive(std::span<const iovec> parts) noexcept {
    if (tls_ != nullptr) [[unlikely]]
      return tls_->receive(parts);
    return ::readv(socket_.get(), parts.data(), static_cast<int>(parts.size()));
  }
  // Whether a part of what was to be sent may have left although send() said EAGAIN.
  [[nodiscard]] bool sending() const noexcept { return tls_ != nullptr && tls_->sending(); }
  // Whether receive() has something to give though the socket may not be readable: never after it returned
  // less than it was asked for.
  [[nodiscard]] bool unread() const noexcept { return tls_ != nullptr && tls_->unread(); }

 private:
  ssize_t send_encrypted(const void* data, std::size_t bytes) noexcept {
    const iovec part{const_cast<void*>(data), bytes};
    return tls_->send({&part, 1});
  }
  ssize_t receive_encrypted(void* into, std::size_t bytes) noexcept {
    const iovec part{into, bytes};
    return tls_->receive({&part, 1});
  }

  base::UniqueFd socket_;
  std::unique_ptr<SecureStream> tls_;  // uses socket_
};

}  // namespace parley::socket
