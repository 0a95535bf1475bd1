#include "transport/socket/acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <utility>

#include "transport/socket/bind.h"
#include "transport/socket/random.h"
#include "transport/socket/tcp_socket.h"

namespace parley::socket {
namespace {

constexpr std::chrono::milliseconds pause_without_resources{100};

base::UniqueFd open_spare() noexcept {
  return base::UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

// Completes "dropped 10.0.0.3:50000, which ...".
const char* describe(Stranger::End how) noexcept {
  switch (how) {
    case Stranger::End::other_program: return "speaks another protocol";
    case Stranger::End::silent: return "did not finish the handshake in time";
    case Stranger::End::displaced: return "had to make room for newer connections";
    default: return "closed before the end of the handshake";
  }
}

}  // namespace

Listener::Impl::Impl(asio::io_context& io, const ListenerOptions& wanted,
                     std::shared_ptr<const JobKey> secret_key, Handler to)
    : context(io),
      options(wanted),
      key(std::move(secret_key)),
      acceptor(bind_and_listen(io, wanted.host, wanted.port)),
      bound(acceptor.local_endpoint()),
      handler_(std::move(to)),
      pause_timer_(io),
      spare_(open_spare()) {}

void Listener::Impl::stop() {
  if (stopping_.exchange(true)) return;
  // The kernel refuses from here on. The descriptor is open still: only close() ends it, and that runs on the
  // reactor after this line or after the Listener's last use.
  ::shutdown(acceptor.native_handle(), SHUT_RDWR);
  asio::post(context, [self = shared_from_this()] { self->close(); });
}

void Listener::Impl::close() noexcept {
  stopping_.store(true);
  asio::error_code ignored;
  acceptor.close(ignored);
  pause_timer_.cancel();
  for (const auto& stranger : strangers_) stranger->close();
  strangers_.clear();
}

void Listener::Impl::wait() {
  acceptor.async_wait(asio::ip::tcp::acceptor::wait_read,
                      [self = shared_from_this()](const asio::error_code& error) {
                        if (!error && !self->stopping_.load()) self->accept_some();
                      });
}

void Listener::Impl::accept_some() {
  for (int i = 0; i < accepts_per_turn; ++i) {
    base::UniqueFd fd = accept_tcp(acceptor.native_handle());
    if (fd) {
      admit(std::move(fd));
      continue;
    }
    switch (after_error(errno)) {
      case Next::accept: continue;
      case Next::wait: return wait();
      case Next::pause: return pause();
      case Next::give_up: return;
    }
  }
  wait();
}

Listener::Impl::Next Listener::Impl::after_error(int error) {
  switch (error) {
    case EAGAIN: return Next::wait;
    case EMFILE:
    case ENFILE:
      if (strangers_.empty()) return turn_away();
      displace_oldest();
      return Next::accept;
    case ENOBUFS:
    case ENOMEM: return Next::pause;
    case EBADF:
    case EINVAL:  // also after the shutdown in stop()
    case ENOTSOCK:
    case EOPNOTSUPP:
      if (!stopping_.load())
        PARLEY_LOG(error, "socket", "listener ", to_text(bound),
                   " broke: ", std::system_category().message(error));
      return Next::give_up;
    default: return Next::accept;  // EINTR, or that one connection is gone already
  }
}

Listener::Impl::Next Listener::Impl::turn_away() {
  if (!spare_) spare_ = open_spare();
  if (!spare_) return Next::pause;
  spare_.reset();
  const bool was_there = static_cast<bool>(accept_tcp(acceptor.native_handle()));
  spare_ = open_spare();
  if (!was_there) return Next::wait;  // a full table is reported before an empty queue is
  say(LogLevel::warn, [] {
    return std::string("turns connections away: no descriptor is free (raise the limit by ulimit -n)");
  });
  return Next::accept;
}

void Listener::Impl::pause() {
  pause_timer_.expires_after(pause_without_resources);
  pause_timer_.async_wait([self = shared_from_this()](const asio::error_code& cancelled) {
    if (!cancelled && !self->stopping_.load()) self->accept_some();
  });
}

void Listener::Impl::admit(base::UniqueFd fd) try {
  Nonce nonce;
  if (!fill_random(nonce)) return;
  asio::ip::tcp::socket socket(context);
  socket.assign(bound.protocol(), fd.get());
  static_cast<void>(fd.release());
  const auto stranger = std::make_shared<Stranger>(
      context, std::move(socket), ListenerHandshake({options.purpose, options.self}, key, nonce));

  if (strangers_.size() == max_strangers) displace_oldest();
  strangers_.push_back(stranger);
  // A plain pointer: close() takes the strangers along.
  stranger->start(base::Deadline::after(options.handshake_timeout),
                  [this](const auto& who, Stranger::End how) { finished(who, how); });
} catch (const std::exception& error) {
  // Memory is short. This connection is closed; those that come later may have more luck.
  say(LogLevel::warn, [&] { return base::concat("dropped a connection: ", error.what()); });
}

void Listener::Impl::displace_oldest() {
  const auto oldest = strangers_.front();
  strangers_.erase(strangers_.begin());
  oldest->close();
  report(*oldest, Stranger::End::displaced);
}

void Listener::Impl::finished(const std::shared_ptr<Stranger>& stranger, Stranger::End how) {
  std::erase(strangers_, stranger);
  if (how != Stranger::End::authenticated) return report(*stranger, how);
  Connection connection = stranger->release();
  if (connection && !stopping_.load()) handler_(std::move(connection), stranger->identity());
}

void Listener::Impl::report(const Stranger& stranger, Stranger::End how) {
  // Scanners and health checks are normal; nobody needs to hear of them unasked.
  if (how == Stranger::End::refused)
    say(LogLevel::warn, [&] {
      return base::concat("refused ", to_text(stranger.remote()), ": ", explain(stranger.refusal()));
    });
  else
    say(LogLevel::info,
        [&] { return base::concat("dropped ", to_text(stranger.remote()), ", which ", describe(how)); });
}

// What would not be written anyway takes no other line's turn.
void Listener::Impl::say(LogLevel level, const std::function<std::string()>& what) {
  if (!base::log_enabled(level, "socket")) return;
  long more = 0;
  if (!lines_.admit(more)) return;
  const std::string rest = more > 0 ? base::concat(" (", more, " more since the last line)") : std::string();
  base::log_line(level, "socket", base::concat("listener ", to_text(bound), " ", what(), rest));
}

}  // namespace parley::socket
