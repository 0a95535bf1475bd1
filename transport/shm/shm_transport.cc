#include "transport/shm/shm_transport.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "transport/base/epoll.h"
#include "transport/base/host.h"
#include "transport/base/log.h"

namespace parley::transport {

using base::Code;
using base::Status;
using shm::Introduction;

namespace {

// While one link is awaited, the others are looked at every so many passes.
constexpr std::size_t passes_per_look_around = 4;
// A look around goes to the links that were heard last, and to some of the others, who take turns; so it
// costs the same however many there are. Each link costs 2.4 ns, all else 43: with 127 silent peers a look
// takes 80 ns instead of 350 (parley-bench scale --what poll).
constexpr std::size_t most_recent = 8;
constexpr std::size_t most_others = 4;
// Descriptors tell of newcomers and of the end of peers. Asking for them costs as much as some twenty passes
// that find nothing, and a peer's end is to be noticed within milliseconds. Between two passes a waiter looks
// up to thirteen times at its peer, or takes up to three messages.
constexpr std::size_t passes_per_descriptor_look = 256;
constexpr auto patience_with_callers = std::chrono::seconds(5);
constexpr std::size_t most_callers = 64;
// What they say is read before more of them are taken, so that none who has spoken is turned away as silent.
constexpr std::size_t most_callers_at_once = most_callers / 2;

// Before it has said a word: strangers have no place among the callers, and cost no patience.
bool is_of_our_user(const base::UniqueFd& caller) {
  const auto user = shm::user_of(caller);
  if (!user)
    PARLEY_LOG(debug, "shm", "turning away a process: ", user.failure().message);
  else if (user.value() != ::geteuid())
    PARLEY_LOG(debug, "shm", "turning away a process of user ", user.value(), ", ours is ", ::geteuid());
  return user && user.value() == ::geteuid();
}

// Abstract sockets are found within one network namespace of one running kernel, which is what a host is
// here.
constexpr char separator = '/';

}  // namespace

ShmTransport::ShmTransport(socket::Reactor& reactor, const shm::Self& self)
    : reactor_(reactor), self_(self), windows_(self.windows) {}

ShmTransport::~ShmTransport() {
  if (bell_) reactor_.unwatch(bell_->event());
  if (events_) reactor_.unwatch(events_.get());
}

Status ShmTransport::start(PacketSink& sink) {
  sink_ = &sink;
  events_ = base::make_epoll_set();
  spare_ = base::make_event_fd();
  auto bell = shm::OwnBell::create();
  if (!bell) return bell.failure().status;
  auto listener = shm::LocalListener::open();
  if (!listener) return listener.failure().status;
  bell_ = std::move(bell).value();
  listener_ = std::move(listener).value();
  if (!watch(listener_->descriptor(), nullptr)) return {Code::exhausted, errno};
  reactor_.watch(events_.get());
  reactor_.watch(bell_->event());
  return {};
}

std::string ShmTransport::address() const {
  return base::host_id() + separator + listener_->name();
}

void ShmTransport::connect(PeerId peer, std::string_view address, base::Deadline deadline) {
  const std::size_t end = address.rfind(separator);
  const auto fail = [&](Status status, const char* why) { failures_.push_back({peer, status, why}); };
  if (closed_) return fail(Code::cancelled, "this transport is closed");
  if (end == std::string_view::npos) return fail(Code::unreachable, "this is no address of shared memory");
  const std::string_view host = address.substr(0, end);
  if (const std::string own = base::host_id(); host != own)
    return fail(Code::unreachable, base::is_other_network_of_one_host(host, own)
                                       ? "it is in another network namespace of this host"
                                       : "it is on another host");
  introductions_.push_back(
      Introduction::dial(self_, *bell_, peer, std::string(address.substr(end + 1)), deadline));
}

void ShmTransport::stop_accepting() noexcept {
  if (listener_) unwatch(listener_->descriptor());
  listener_.reset();
}

ShmLink* ShmTransport::own(Endpoint* awaited) noexcept {
  if (awaited == nullptr) return nullptr;
  if (awaited != last_awaited_) {
    const auto found = std::find_if(links_.begin(), links_.end(),
                                    [awaited](const auto& link) { return link.get() == awaited; });
    if (found == links_.end()) return nullptr;
    last_awaited_ = awaited;
  }
  return static_cast<ShmLink*>(awaited);
}

std::size_t ShmTransport::progress(Endpoint* awaited) noexcept {
  std::size_t events = 0;
  const bool was_armed = std::exchange(armed_, false);
  if (was_armed) bell_->cancel();
  if (!lists_.quiet.empty()) events += ring_for_quiet_ones();
  const std::size_t pass = ++pass_;
  ShmLink* first = own(awaited);
  if (first != nullptr) events += first->take_arrived();
  if (first == nullptr || pass % passes_per_look_around == 0) events += look_around(was_armed);
  if (was_armed || !introductions_.empty() || pass % passes_per_descriptor_look == 0)
    events += look_at_descriptors();
  if (!introductions_.empty()) events += meet();
  if (!failures_.empty()) events += tell_failures();
  if (!lists_.needy.empty()) {
    events += use_room();
    events += reap_ended();
  }
  if (!lists_.pulling.movers.empty()) events += pull();
  return events;
}

// One fence for all that was written since the last look. Counts as an event: who looks in place of callers,
// because something is unsent, shall look again and not sleep.
std::size_t ShmTransport::ring_for_quiet_ones() noexcept {
  std::size_t events = 0;
  base::full_fence();
  for (; ShmLink* link = lists_.quiet.front(); ++events) link->ring_after_fence();
  return events;
}

// Begins with another link each time, so that none is always last. Whoever has slept, or is leaving, is to
// find everything there is: `at_all`.
std::size_t ShmTransport::look_around(bool at_all) noexcept {
  std::size_t events = 0;
  const std::size_t recent = std::min(links_.size(), most_recent);
  if (++first_ >= recent) first_ = 0;
  for (std::size_t i = 0; i < recent; ++i)
    events += look_at(first_ + i < recent ? first_ + i : first_ + i - recent);
  const std::size_t others = links_.size() - recent;
  const std::size_t looks = at_all || closed_ ? others : std::min(others, most_others);
  for (std::size_t i = 0; i < looks; ++i) {
    if (++next_other_ >= others) next_other_ = 0;
    events += look_at(recent + next_other_);
  }
  return events;
}

// A link that has something becomes one of the recent ones, in the place of one that did before the others.
std::size_t ShmTransport::look_at(std::size_t place) noexcept {
  ShmLink& link = *links_[place];
  if (!link.has_next() && !link.peer_has_ended()) return 0;
  if (place >= most_recent) {
    std::swap(links_[place], links_[next_recent_]);
    next_recent_ = (next_recent_ + 1) % most_recent;
  }
  return link.receive();
}

std::size_t ShmTransport::look_at_descriptors() noexcept {
  std::array<epoll_event, 64> ready;
  const int count = epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  bool has_callers = false;
  std::size_t events = 0;
  for (int i = 0; i < count; ++i) {
    auto* link = static_cast<ShmLink*>(ready[static_cast<std::size_t>(i)].data.ptr);
    if (link == nullptr) {
      has_callers = true;
    } else if (!link->peer_has_ended()) {
      link->look_at_peer();
      if (link->peer_has_ended()) unwatch(*link);
      ++events;
    }
  }
  if (has_callers && listener_) events += take_callers();
  return events;
}

std::size_t ShmTransport::take_callers() noexcept {
  std::size_t taken = 0;
  while (taken < most_callers_at_once) {
    base::UniqueFd caller = listener_->accept();
    if (!caller && (errno == EMFILE || errno == ENFILE)) {
      // Accepted and closed, for one that waits would wake us again and again.
      spare_.reset();
      caller = listener_->accept();
      caller.reset();
      spare_ = base::UniqueFd(::eventfd(0, EFD_CLOEXEC));
      return taken + 1;
    }
    if (!caller) return taken;
    ++taken;
    if (!is_of_our_user(caller)) continue;
    // Whoever has our answer may rely on it, and who has spoken is no stranger any more.
    const auto is_stranger = [](const Introduction& one) { return !one.is_dial() && !one.has_heard(); };
    const auto callers = std::count_if(introductions_.begin(), introductions_.end(), is_stranger);
    if (static_cast<std::size_t>(callers) >= most_callers) {
      const auto oldest = std::find_if(introductions_.begin(), introductions_.end(), is_stranger);
      unwatch(oldest->descriptor());
      introductions_.erase(oldest);
    }
    watch(caller.get(), nullptr);
    introductions_.push_back(
        Introduction::answer(self_, *bell_, std::move(caller), base::Deadline::after(patience_with_callers)));
  }
  return taken;
}

// Goes on with whoever introduces himself.
std::size_t ShmTransport::meet() noexcept {
  std::size_t events = 0;
  for (std::size_t i = 0; i < introductions_.size();) {
    Introduction& introduction = introductions_[i];
    const bool had_none = introduction.descriptor() < 0;
    const Status status = introduction.step();
    if (status.code() == Code::again) {
      if (had_none && introduction.descriptor() >= 0) watch(introduction.descriptor(), nullptr);
      ++i;
      continue;
    }
    ++events;
    Introduction ended = std::move(introduction);
    introductions_.erase(introductions_.begin() + static_cast<std::ptrdiff_t>(i));
    status.ok() ? admit(std::move(ended)) : give_up(ended, status);
  }
  return events;
}

void ShmTransport::admit(Introduction introduction) noexcept {
  const bool dialled = introduction.is_dial();
  const PeerId peer = introduction.peer();
  // Whoever dialled us and cannot be taken in sees the end of the socket.
  const auto turn_down = [&](Status status, const char* why) {
    if (dialled) sink_->on_unreachable(peer, status, why);
  };
  try {
    shm::Acquaintance acquaintance = introduction.take_acquaintance();
    shm::Boards boards = std::move(acquaintance.boards);
    auto link =
        std::make_unique<ShmLink>(std::move(acquaintance), *sink_, lists_, windows_, self_.arena.get());
    auto mover = std::make_unique<PullMover>(link->peer_memory(), std::move(boards), link->arenas(),
                                             link->end_of_life().get(), lists_.pulling);
    link->dialled = dialled;
    link->transport = name();
    link->mover = mover.get();
    link->ledger = mover.get();
    const bool is_watched = watch(link->socket().get(), link.get()) &&
                            (!link->end_of_life() || watch(link->end_of_life().get(), link.get()));
    if (!is_watched) {
      unwatch(*link);
      return turn_down({Code::exhausted, errno}, "epoll_ctl failed");
    }
    movers_.push_back(std::move(mover));
    links_.push_back(std::move(link));
  } catch (const std::bad_alloc&) {
    return turn_down(Code::exhausted, "out of memory for a link");
  }
  sink_->on_link(peer, *links_.back());
}

void ShmTransport::give_up(Introduction& introduction, Status status) noexcept {
  unwatch(introduction.descriptor());
  if (introduction.is_dial()) {
    sink_->on_unreachable(introduction.peer(), status, introduction.why());
  } else {
    PARLEY_LOG(debug, "shm", "turning away a process: ", introduction.why());
  }
}

std::size_t ShmTransport::tell_failures() noexcept {
  const std::vector<Failed> failures = std::exchange(failures_, {});
  for (const Failed& failed : failures) sink_->on_unreachable(failed.peer, failed.status, failed.why);
  return failures.size();
}

std::size_t ShmTransport::use_room() noexcept {
  std::size_t events = 0;
  for (ShmLink* link = lists_.needy.front(); link != nullptr;) {
    ShmLink* next = lists_.needy.next(*link);
    events += link->use_room();  // takes itself out of the list, and no other
    link = next;
  }
  return events;
}

// One turn for each pass, so that everybody else has his between two; those that pull take turns, too.
std::size_t ShmTransport::pull() noexcept {
  PullMover& next = *lists_.pulling.movers.pop_front();
  lists_.pulling.movers.push_back(next);
  next.take_turn();
  return 1;
}

std::size_t ShmTransport::reap_ended() noexcept {
  std::size_t events = 0;
  for (std::size_t i = links_.size(); i-- > 0;) {
    if (!links_[i]->ended()) continue;
    const std::unique_ptr<ShmLink> link = std::move(links_[i]);
    links_.erase(links_.begin() + static_cast<std::ptrdiff_t>(i));
    if (last_awaited_ == link.get()) last_awaited_ = nullptr;
    unwatch(*link);
    ::shutdown(link->socket().get(), SHUT_RDWR);
    link->abandon();
    ++events;
    sink_->on_closed(*link, link->reason());
    std::erase_if(movers_, [&](const auto& mover) { return mover.get() == link->mover; });
  }
  return events;
}

// Null: for the listener, and for introductions.
bool ShmTransport::watch(int descriptor, ShmLink* link) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = link;
  return epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0 ||
         (errno == EEXIST && epoll_ctl(events_.get(), EPOLL_CTL_MOD, descriptor, &event) == 0);
}

// Before it is closed: a forked child may hold it, and with it its place in the set.
void ShmTransport::unwatch(int descriptor) noexcept {
  epoll_ctl(events_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void ShmTransport::unwatch(const ShmLink& link) noexcept {
  unwatch(link.socket().get());
  if (link.end_of_life()) unwatch(link.end_of_life().get());
}

// Two phases: the bell tells writers that we may sleep, then we look once more. See bell.h.
bool ShmTransport::arm() noexcept {
  armed_ = true;
  bell_->announce();
  if (!lists_.quiet.empty()) (void)ring_for_quiet_ones();
  if (!failures_.empty() || !lists_.pulling.movers.empty()) return false;
  for (const auto& link : links_)
    if (link->has_next() || link->peer_has_ended()) return false;
  for (ShmLink* link = lists_.needy.front(); link != nullptr; link = lists_.needy.next(*link))
    if (link->ended() || link->has_room()) return false;
  return true;
}

void ShmTransport::close() noexcept {
  closed_ = true;
  stop_accepting();
  for (Introduction& introduction : introductions_) {
    unwatch(introduction.descriptor());
    if (introduction.is_dial())
      failures_.push_back({introduction.peer(), Code::cancelled, "this transport was closed"});
  }
  introductions_.clear();
  for (auto& link : links_) link->close();
}

}  // namespace parley::transport
