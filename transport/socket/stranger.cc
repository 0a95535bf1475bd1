#include "transport/socket/stranger.h"

#include <sys/socket.h>

#include <asio/read.hpp>
#include <asio/write.hpp>
#include <utility>

#include "transport/base/log.h"
#include "transport/socket/read_message.h"
#include "transport/socket/tcp_socket.h"

namespace parley::socket {

Stranger::Stranger(asio::io_context& context, asio::ip::tcp::socket socket, ListenerHandshake handshake)
    : socket_(std::move(socket)), timer_(context), handshake_(std::move(handshake)) {
  asio::error_code gone;  // a read will tell
  remote_ = socket_.remote_endpoint(gone);
}

void Stranger::start(base::Deadline deadline, Done done) {
  done_ = std::move(done);
  timer_.expires_at(deadline.when());
  timer_.async_wait([self = shared_from_this()](const asio::error_code& cancelled) {
    if (!cancelled) self->end(End::silent);
  });
  read_hello();
}

void Stranger::read_hello() {
  read_message(socket_, hello_, hello_magic(), [self = shared_from_this()](const asio::error_code& error) {
    if (!self->done_) return;
    if (error == std::errc::protocol_error) return self->end(End::other_program);
    if (error) return self->end(End::lost);
    self->refusal_ = self->handshake_.take_hello(self->hello_);
    if (self->refusal_ && !ListenerHandshake::answers(*self->refusal_)) return self->end(End::other_program);
    self->send_challenge();
  });
}

void Stranger::send_challenge() {
  const auto& challenge = handshake_.challenge();
  asio::async_write(socket_, asio::buffer(challenge.data(), challenge.size()),
                    [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                      if (!self->done_) return;
                      if (self->refusal_) return self->end(End::refused);
                      if (error) return self->end(End::lost);
                      self->read_proof();
                    });
}

void Stranger::read_proof() {
  asio::async_read(socket_, asio::buffer(proof_.data(), proof_.size()),
                   [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                     if (!self->done_) return;
                     if (error) return self->end(End::lost);
                     self->refusal_ = self->handshake_.take_proof(self->proof_);
                     self->send_welcome();
                   });
}

// In one step, for a dialler that has its welcome must not be displaced or time out here any more. The few
// bytes always fit: whatever was sent before has been answered.
void Stranger::send_welcome() {
  const auto& welcome = handshake_.welcome();
  const auto sent =
      ::send(socket_.native_handle(), welcome.data(), welcome.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (refusal_) return end(End::refused);
  if (sent != static_cast<ssize_t>(welcome.size())) return end(End::lost);
  if (handshake_.encrypts()) return begin_tls();
  end(End::authenticated);
}

// We are TLS's client, so that its last message is ours, as the welcome is without it: a dialler that has it
// is let in, and one that we drop before has none and tries again.
void Stranger::begin_tls() {
  if (const auto shared = handshake_.shared_key())
    tls_ = make_secure_stream(socket_.native_handle(), SecureStream::Role::client, *shared);
  if (tls_) return go_on_with_tls();
  refusal_ = Refusal{Reason::no_crypto, {}, handshake_.own_facts()};
  end(End::refused);
}

void Stranger::go_on_with_tls() {
  const auto ready = [self = shared_from_this()](const asio::error_code& error) {
    if (!self->done_) return;
    if (error) return self->end(End::lost);
    self->go_on_with_tls();
  };
  switch (tls_->handshake()) {
    case SecureStream::Step::done: return end(End::authenticated);
    case SecureStream::Step::wants_read: return socket_.async_wait(asio::ip::tcp::socket::wait_read, ready);
    case SecureStream::Step::wants_write: return socket_.async_wait(asio::ip::tcp::socket::wait_write, ready);
    case SecureStream::Step::lost: return end(End::lost);
    case SecureStream::Step::failed: break;
  }
  PARLEY_LOG(debug, "socket", "TLS failed with ", to_text(remote_), ": ", tls_->problem());
  refusal_ = Refusal{Reason::tls_failed, {}, handshake_.own_facts()};
  end(End::refused);
}

void Stranger::end(End how) {
  if (!done_) return;
  const Done done = std::exchange(done_, nullptr);
  timer_.cancel();
  asio::error_code ignored;
  if (how != End::authenticated) socket_.close(ignored);
  done(shared_from_this(), how);
}

void Stranger::close() noexcept {
  done_ = nullptr;
  timer_.cancel();
  asio::error_code ignored;
  socket_.close(ignored);
}

Connection Stranger::release() noexcept {
  tune_connected(socket_);
  return Connection(take_out(socket_), std::move(tls_));
}

}  // namespace parley::socket
