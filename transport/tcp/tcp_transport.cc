#include "transport/tcp/tcp_transport.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <utility>

#include "transport/base/log.h"
#include "transport/socket/dial.h"
#include "transport/socket/listener.h"

namespace parley::transport {

using base::Code;
using base::Status;

namespace {
// Up to here a grant's round trip is a good part of what the message takes; README has the measurement.
constexpr std::size_t eager_limit_bytes = max_payload_bytes;

// While one link is awaited, the others are looked at every so many passes.
constexpr std::size_t passes_per_look_around = 4;
// After so many events of one awaited link it leaves the epoll set.
constexpr std::size_t streak_for_privacy = 32;

socket::DialTarget parse_address(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  socket::DialTarget target{.host = {}, .port = 0, .is_published = true};
  if (colon == std::string_view::npos) return target;
  target.host = address.substr(0, colon);
  if (target.host.starts_with('[') && target.host.ends_with(']'))
    target.host = target.host.substr(1, target.host.size() - 2);
  for (const char digit : address.substr(colon + 1))
    target.port = static_cast<std::uint16_t>(target.port * 10 + (digit - '0'));
  return target;
}

}  // namespace

// Connections made by the reactor's handlers, which may run on a thread that sleeps without the engine's
// lock.
struct TcpTransport::Newcomers {
  struct Entry {
    PeerId peer;
    base::Result<socket::Connection> outcome;
    bool dialled;  // else accepted
  };
  std::mutex mutex;
  std::vector<Entry> entries;
  // release/acquire: a progress() that sees `any` finds the entry behind the mutex.
  std::atomic<bool> any{false};

  void add(PeerId peer, base::Result<socket::Connection> outcome, bool dialled) {
    const std::lock_guard lock(mutex);
    entries.push_back({peer, std::move(outcome), dialled});
    any.store(true, std::memory_order_release);
  }
};

struct TcpTransport::Accepting {
  socket::Listener listener;
};

TcpTransport::TcpTransport(socket::Reactor& reactor, TcpOptions options)
    : reactor_(reactor), options_(std::move(options)), newcomers_(std::make_shared<Newcomers>()) {}

TcpTransport::~TcpTransport() {
  if (ready_set_) reactor_.unwatch(ready_set_.get());
}

Status TcpTransport::start(PacketSink& sink) {
  sink_ = &sink;
  ready_set_ = base::UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  if (!ready_set_) return {Code::exhausted, errno};
  reactor_.watch(ready_set_.get());
  socket::ListenerOptions listen;
  listen.host = options_.host;
  listen.port = options_.port;
  listen.purpose = socket::Purpose::data;
  listen.self = options_.self;
  accepting_.reset(new Accepting{socket::Listener(
      reactor_, listen, options_.credentials,
      [newcomers = newcomers_](socket::Connection connection, const socket::Identity& identity) {
        newcomers->add(identity.from, std::move(connection), false);
      })});
  return {};
}

std::string TcpTransport::address() const {
  const std::string host = accepting_->listener.host();
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return base::concat(is_ipv6 ? "[" : "", host, is_ipv6 ? "]:" : ":", accepting_->listener.port());
}

void TcpTransport::connect(PeerId peer, std::string_view address, base::Deadline deadline) {
  if (closed_) return newcomers_->add(peer, base::Failure{Code::cancelled, "this transport is closed"}, true);
  const socket::Identity identity{socket::Purpose::data, options_.self, peer};
  socket::dial(reactor_, parse_address(address), identity, options_.credentials, deadline,
               [newcomers = newcomers_, peer](base::Result<socket::Connection> outcome) {
                 newcomers->add(peer, std::move(outcome), true);
               });
}

void TcpTransport::stop_accepting() noexcept {
  if (accepting_) accepting_->listener.stop();
}

TcpLink* TcpTransport::own(Endpoint* awaited) noexcept {
  if (awaited == nullptr) return nullptr;
  if (awaited != last_awaited_) {
    const auto found = std::find_if(links_.begin(), links_.end(),
                                    [awaited](const auto& link) { return link.get() == awaited; });
    if (found == links_.end()) return nullptr;
    last_awaited_ = awaited;
  }
  return static_cast<TcpLink*>(awaited);
}

std::size_t TcpTransport::progress(Endpoint* awaited) noexcept {
  std::size_t events = 0;
  // acquire: see Newcomers::any.
  if (newcomers_->any.load(std::memory_order_acquire)) events += admit_newcomers();
  if (!unsent_.empty()) events += write_unsent();
  TcpLink* first = links_.size() == 1 ? links_.front().get() : own(awaited);
  if (private_ != nullptr && private_ != first) watch(*std::exchange(private_, nullptr), EPOLLIN);
  if (first != nullptr) events += receive_awaited(*first);
  if (links_.size() > 1 && (first == nullptr || ++pass_ % passes_per_look_around == 0))
    events += receive_ready();
  if (!unsent_.empty()) events += reap_ended();
  return events;
}

// Reads the awaited link without asking the epoll set. Membership in the set costs the kernel a callback
// through three wait queues for every packet that arrives; a link that is awaited again and again is taken
// out, and put back when another is awaited or the rank goes to sleep.
std::size_t TcpTransport::receive_awaited(TcpLink& link) noexcept {
  const std::size_t events = link.receive();
  if (events == 0 || &link == private_) return events;
  streak_ = &link == streak_link_ ? streak_ + 1 : 0;
  streak_link_ = &link;
  if (streak_ >= streak_for_privacy && !link.ended()) {
    watch(link, 0);
    private_ = &link;
  }
  return events;
}

// Has the set report `events` of the link; 0 takes it out.
void TcpTransport::watch(TcpLink& link, std::uint32_t events) noexcept {
  if (link.watched_events == events) return;
  epoll_event event{};
  event.events = events;
  event.data.ptr = &link;
  const int change = events == 0 ? EPOLL_CTL_DEL : link.watched_events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(ready_set_.get(), change, link.descriptor(), &event) == 0) link.watched_events = events;
}

std::size_t TcpTransport::admit_newcomers() noexcept {
  std::vector<Newcomers::Entry> entries;
  {
    const std::lock_guard lock(newcomers_->mutex);
    entries.swap(newcomers_->entries);
    newcomers_->any.store(false, std::memory_order_relaxed);  // the mutex orders it
  }
  for (auto& entry : entries) {
    if (closed_) {
      // Too late for a link. Who was accepted sees the end of the stream.
      if (entry.dialled) sink_->on_unreachable(entry.peer, Code::cancelled, "this transport was closed");
    } else if (entry.outcome) {
      admit(entry.peer, std::move(entry.outcome).value(), entry.dialled);
    } else {
      sink_->on_unreachable(entry.peer, entry.outcome.failure().status, entry.outcome.failure().message);
    }
  }
  return entries.size();
}

void TcpTransport::admit(PeerId peer, socket::Connection connection, bool dialled) noexcept {
  // Whoever dialled us and cannot be taken in sees the end of the stream, and may dial again.
  const auto turn_down = [&](Status status, const char* why) {
    if (dialled) sink_->on_unreachable(peer, status, why);
  };
  try {
    auto link = std::make_unique<TcpLink>(std::move(connection), *sink_, unsent_);
    link->dialled = dialled;
    link->eager_limit_bytes = eager_limit_bytes;
    link->transport = name();
    watch(*link, EPOLLIN);
    if (link->watched_events == 0) return turn_down({Code::exhausted, errno}, "epoll_ctl failed");
    links_.push_back(std::move(link));
  } catch (const std::bad_alloc&) {
    return turn_down(Code::exhausted, "out of memory for a link");
  }
  sink_->on_link(peer, *links_.back());
}

std::size_t TcpTransport::write_unsent() noexcept {
  std::size_t events = 0;
  for (TcpLink* link = unsent_.front(); link != nullptr;) {
    TcpLink* next = unsent_.next(*link);
    events += link->write_unsent();  // takes itself out of the list, and no other
    link = next;
  }
  return events;
}

std::size_t TcpTransport::receive_ready() noexcept {
  std::array<epoll_event, 64> ready;
  const int count = epoll_wait(ready_set_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  std::size_t events = 0;
  // The kernel rotates its ready list, so that no link starves when more are ready than fit here.
  for (int i = 0; i < count; ++i)
    events += static_cast<TcpLink*>(ready[static_cast<std::size_t>(i)].data.ptr)->receive();
  return events;
}

std::size_t TcpTransport::reap_ended() noexcept {
  std::size_t events = 0;
  for (std::size_t i = links_.size(); i-- > 0;) {
    if (!links_[i]->ended()) continue;
    const std::unique_ptr<TcpLink> link = std::move(links_[i]);
    links_.erase(links_.begin() + static_cast<std::ptrdiff_t>(i));
    if (last_awaited_ == link.get()) last_awaited_ = nullptr;
    if (private_ == link.get()) private_ = nullptr;
    if (streak_link_ == link.get()) streak_link_ = nullptr;
    // By hand: a forked child may hold the socket, and with it the connection and its place in the set.
    watch(*link, 0);
    ::shutdown(link->descriptor(), SHUT_RDWR);
    link->abandon();
    ++events;
    sink_->on_closed(*link, link->reason());
  }
  return events;
}

bool TcpTransport::arm() noexcept {
  // acquire: see Newcomers::any.
  if (newcomers_->any.load(std::memory_order_acquire)) return false;
  for (TcpLink* link = unsent_.front(); link != nullptr; link = unsent_.next(*link))
    if (link->ended() || link->broken()) return false;
  private_ = nullptr;
  streak_ = 0;
  for (auto& link : links_)
    watch(*link, link->unsent() ? EPOLLIN | EPOLLOUT : static_cast<std::uint32_t>(EPOLLIN));
  return true;
}

void TcpTransport::close() noexcept {
  closed_ = true;
  stop_accepting();
  for (auto& link : links_) {
    // What was written still reaches the peer, followed by an end of stream.
    ::shutdown(link->descriptor(), SHUT_WR);
    link->close();
  }
}

}  // namespace parley::transport
