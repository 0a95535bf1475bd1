#include "transport/socket/dial_attempt.h"

#include <asio/error.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

#include "transport/socket/read_message.h"
#include "transport/socket/tcp_socket.h"

namespace parley::socket {
namespace {

bool is_no_route(int error) noexcept {
  return error == EHOSTUNREACH || error == ENETUNREACH;
}

std::string why_not_dialled(int error) {
  std::string text = std::system_category().message(error);
  if (error == ECONNREFUSED) text += " (nothing listens there)";
  if (is_no_route(error)) text += " (no route to that address)";
  if (error == EMFILE) text += " (raise the limit by ulimit -n)";
  return text;
}

// Worth another try.
DialAttempt::Outcome failure(int error, std::string reason) {
  return {.reason = std::move(reason), .error = error};
}

DialAttempt::Outcome refused(std::string reason) {
  return {.reason = std::move(reason), .final = true};
}

}  // namespace

DialAttempt::DialAttempt(asio::io_context& context, const asio::ip::tcp::endpoint& address,
                         DiallerHandshake handshake)
    : address_(address), socket_(context), timer_(context), handshake_(std::move(handshake)) {}

void DialAttempt::start(base::Deadline connect_limit, base::Deadline limit, Done done) {
  done_ = std::move(done);
  if (auto reason = forbidden(address_.address()); !reason.empty()) return end(refused(std::move(reason)));
  base::UniqueFd fd = open_tcp(address_.protocol());
  if (!fd) return end(failure(errno, why_not_dialled(errno)));
  tune(fd.get());
  asio::error_code error;
  socket_.assign(address_.protocol(), fd.get(), error);
  if (error) return end(failure(error.value(), error.message()));
  static_cast<void>(fd.release());

  end_at(earliest(connect_limit, limit));
  socket_.async_connect(address_, [self = shared_from_this(), limit](const asio::error_code& failed) {
    if (!self->done_) return;
    if (failed) return self->lose(failed);
    self->end_at(limit);
    self->shake_hands();
  });
}

// Instead of what was set before. Where both come at once, because we were stopped meanwhile, the connection
// wins: a wait that has ended already is told by its number.
void DialAttempt::end_at(base::Deadline limit) {
  timer_.cancel();
  const int number = ++limits_;
  if (limit.is_never()) return;
  timer_.expires_at(limit.when());
  timer_.async_wait([self = shared_from_this(), number](const asio::error_code& cancelled) {
    if (!cancelled && number == self->limits_) self->end(self->overdue());
  });
}

void DialAttempt::shake_hands() {
  if (connected_to_itself(socket_)) {
    close_at_once(socket_);
    return end(failure(ECONNREFUSED, why_not_dialled(ECONNREFUSED)));
  }
  tune_connected(socket_);
  phase_ = Phase::expects_challenge;
  const auto& hello = handshake_.hello();
  asio::async_write(socket_, asio::buffer(hello.data(), hello.size()),
                    [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                      if (!self->done_) return;
                      if (error) return self->lose(error);
                      self->read_challenge();
                    });
}

void DialAttempt::read_challenge() {
  read_message(socket_, challenge_, challenge_magic(),
               [self = shared_from_this()](const asio::error_code& error) {
                 if (!self->done_) return;
                 // What contradicts the magic is no CHALLENGE; the rest of it need not be read to know that.
                 if (error && error != std::errc::protocol_error) return self->lose(error);
                 if (const auto refusal = self->handshake_.take_challenge(self->challenge_))
                   return self->end(refused(explain(*refusal)));
                 self->send_proof();
               });
}

void DialAttempt::send_proof() {
  phase_ = Phase::expects_welcome;
  const auto& proof = handshake_.proof();
  asio::async_write(socket_, asio::buffer(proof.data(), proof.size()),
                    [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                      if (!self->done_) return;
                      if (error) return self->lose(error);
                      self->read_welcome();
                    });
}

void DialAttempt::read_welcome() {
  asio::async_read(socket_, asio::buffer(welcome_.data(), welcome_.size()),
                   [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                     if (!self->done_) return;
                     if (error) return self->lose(error);
                     if (const auto refusal = self->handshake_.take_welcome(self->welcome_))
                       return self->end(refused(explain(*refusal)));
                     if (self->handshake_.encrypts()) return self->begin_tls();
                     self->succeed();
                   });
}

// The listener is TLS's client: see Stranger::begin_tls().
void DialAttempt::begin_tls() {
  phase_ = Phase::sets_up_tls;
  if (const auto shared = handshake_.shared_key())
    tls_ = make_secure_stream(socket_.native_handle(), SecureStream::Role::server, *shared);
  if (tls_) return go_on_with_tls();
  end(refused(explain(handshake_.refusal(Reason::no_crypto))));
}

void DialAttempt::go_on_with_tls() {
  const auto ready = [self = shared_from_this()](const asio::error_code& error) {
    if (!self->done_) return;
    if (error) return self->lose(error);
    self->go_on_with_tls();
  };
  switch (tls_->handshake()) {
    case SecureStream::Step::done: return succeed();
    case SecureStream::Step::wants_read: return socket_.async_wait(asio::ip::tcp::socket::wait_read, ready);
    case SecureStream::Step::wants_write: return socket_.async_wait(asio::ip::tcp::socket::wait_write, ready);
    case SecureStream::Step::lost: return lose(asio::error::eof);
    case SecureStream::Step::failed: break;
  }
  const auto reason = explain(handshake_.refusal(Reason::tls_failed));
  end(refused(reason + " (" + tls_->problem() + ")"));
}

void DialAttempt::succeed() {
  Outcome outcome;
  outcome.connection = Connection(take_out(socket_), std::move(tls_));
  if (!outcome.connection) outcome = failure(EBADF, why_not_dialled(EBADF));
  end(std::move(outcome));
}

void DialAttempt::lose(const asio::error_code& error) {
  if (phase_ == Phase::connecting) {
    if (error == asio::error::timed_out) return end(overdue());
    auto outcome = failure(error.value(), why_not_dialled(error.value()));
    outcome.unmet = is_no_route(error.value());
    return end(std::move(outcome));
  }
  // Asio's end of file has no errno.
  end(failure(error == asio::error::eof ? ECONNRESET : error.value(),
              "it closed the connection during the handshake"));
}

DialAttempt::Outcome DialAttempt::overdue() const {
  auto outcome =
      failure(ETIMEDOUT, phase_ == Phase::connecting
                             ? "no answer (a firewall?)"
                             : "connected, but no answer to the handshake (is that process stopped?)");
  outcome.answered = false;
  outcome.connected = phase_ != Phase::connecting;
  outcome.unmet = !outcome.connected;
  return outcome;
}

void DialAttempt::end(Outcome outcome) {
  if (!done_) return;
  const Done done = std::exchange(done_, nullptr);
  close();
  done(std::move(outcome));
}

void DialAttempt::close() noexcept {
  done_ = nullptr;
  timer_.cancel();
  asio::error_code ignored;
  socket_.close(ignored);
}

}  // namespace parley::socket
