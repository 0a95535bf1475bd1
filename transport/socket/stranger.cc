#include "transport/socket/stranger.h"

#include <sys/socket.h>

#include <asio/read.hpp>
#include <asio/write.hpp>
#include <utility>

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
  end(sent == static_cast<ssize_t>(welcome.size()) ? End::authenticated : End::lost);
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

base::UniqueFd Stranger::release() noexcept {
  limit_silence(socket_);
  return take_out(socket_);
}

}  // namespace parley::socket
