#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "transport/base/deadline.h"
#include "transport/socket/connection.h"
#include "transport/socket/handshake.h"

namespace parley::socket {

// One accepted connection while it has not proved yet who it is, and while TLS, if there is any, is set up
// with who has. Reads 104 bytes at most before the proof. Thread-safety: everything on the reactor.
class Stranger : public std::enable_shared_from_this<Stranger> {
 public:
  enum class End {
    authenticated,  // identity() is known; take the connection by release()
    refused,        // refusal() says why
    other_program,  // its first bytes are no handshake
    silent,         // the deadline passed
    displaced,      // close() was called to make room for a newer one; never passed to `done`
    lost,           // it closed or reset the connection
  };
  using Done = std::function<void(const std::shared_ptr<Stranger>&, End)>;

  Stranger(asio::io_context& context, asio::ip::tcp::socket socket, ListenerHandshake handshake);

  // `done` runs once, unless close() comes first.
  void start(base::Deadline deadline, Done done);
  // Drops the connection.
  void close() noexcept;

  [[nodiscard]] Connection release() noexcept;
  [[nodiscard]] Identity identity() const noexcept { return handshake_.identity(); }
  // REQUIRES: the end was `refused`.
  [[nodiscard]] const Refusal& refusal() const noexcept { return *refusal_; }
  [[nodiscard]] const asio::ip::tcp::endpoint& remote() const noexcept { return remote_; }

 private:
  void read_hello();
  void send_challenge();
  void read_proof();
  void send_welcome();
  void begin_tls();
  void go_on_with_tls();
  void end(End how);

  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
  asio::ip::tcp::endpoint remote_;
  ListenerHandshake handshake_;
  std::optional<Refusal> refusal_;
  Done done_;  // empty once the connection is over for this object
  HelloBytes hello_{};
  ProofBytes proof_{};
  std::unique_ptr<SecureStream> tls_;
};

}  // namespace parley::socket
