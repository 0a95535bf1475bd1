#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "transport/socket/crypto.h"

namespace parley::socket {

// TLS over one non-blocking socket, which belongs to somebody else. secure_stream_openssl.cc implements it; a
// build without OpenSSL has none.
//
// S1 send() and receive() behave as send(2) and recv(2) on a non-blocking socket, but for S2.
// S2 After send() answered EAGAIN with sending(), the next call must begin with the same bytes, for some of
//    them may have left encrypted already. More bytes may follow them.
// S3 Bytes that were taken out of the socket and not yet received are told by unread(); receive() leaves none
//    behind when it returns less than it was asked for. Until then the socket need not be readable.
//
// Thread-safety: all methods; handshake() before the others.
class SecureStream {
 public:
  enum class Role { client, server };
  enum class Step { done, wants_read, wants_write, lost, failed };

  virtual ~SecureStream() = default;
  SecureStream(const SecureStream&) = delete;
  SecureStream& operator=(const SecureStream&) = delete;

  // Goes on as far as the socket allows; call it again when the socket is readable or writable. `lost`: the
  // other side closed. `failed`: problem() says why. Takes no byte of what follows the handshake.
  virtual Step handshake() noexcept = 0;
  [[nodiscard]] virtual std::string problem() const = 0;

  virtual ssize_t send(std::span<const iovec> parts) noexcept = 0;
  virtual ssize_t receive(std::span<const iovec> parts) noexcept = 0;
  [[nodiscard]] virtual bool sending() const noexcept = 0;
  [[nodiscard]] virtual bool unread() const noexcept = 0;

 protected:
  SecureStream() = default;
};

// What both ends of a TLS connection know beforehand.
struct SharedKey {
  std::string identity;  // whose connection it is; told in the clear, equal on both sides
  Key key{};
};

// Records that one key protects, 16 KiB each. AES-GCM stays safe far beyond; RFC 8446 allows 2^24.5.
inline constexpr std::size_t default_records_per_key = std::size_t{1} << 23;

// Whether this build has TLS.
[[nodiscard]] bool tls_available() noexcept;

// TLS 1.3 with that key and a fresh Diffie-Hellman exchange, and no certificates. Nothing when OpenSSL fails
// or is not there.
[[nodiscard]] std::unique_ptr<SecureStream> make_secure_stream(
    int socket, SecureStream::Role role, const SharedKey& shared,
    std::size_t records_per_key = default_records_per_key) noexcept;

}  // namespace parley::socket
