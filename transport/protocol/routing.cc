// Which way a large message comes: its receiver pulls it, or invites its sender to put it on the link.
//
// Both are open to a receiver that has the key of an offer; PathChoice says which to take. An invitation is a
// grant like any other, but the receiver keeps the key. If no data come soon, the sender computes or is
// stopped, and the receiver pulls after all. Who is first shows where the key is withdrawn: a sender that can
// do so when it finds the grant sends the data, and the pull is in vain; one that cannot knows that the
// message was received. So a receive's course is
//
//   matched --pull--> pulling --> done
//   matched --link--> invited --data--> landing --> done
//                     invited --nothing comes--> pulling --> done, or landing --> done
//
// Each grant that has left is answered, by data or by `revoked`, unless the pull was first.
#include <algorithm>
#include <new>
#include <utility>

#include "transport/base/deadline.h"
#include "transport/protocol/messenger.h"
#include "transport/protocol/moving.h"

namespace parley::transport {

namespace {
// Looks at the network without any data: for 1 MiB some tens of microseconds, many times as long as a sender
// needs that looks at the network, too; for more as long as a fraction of the message would take.
constexpr std::size_t bytes_per_look = 512;
constexpr std::uint64_t least_patience_looks = 2048;

// A sender that sleeps in a wait answers within some 50 us; one that computes when its background thread
// looks at the network, every 400 us.
constexpr auto late_answer = std::chrono::microseconds(200);

// Of a routed message.
Path choose_path(Peer& peer, std::size_t bytes, std::uint32_t self) noexcept {
  if (Endpoint* link = peer.endpoint; link != nullptr)
    peer.paths.note_copies(bytes,
                           {link->copies_in.take(), link->copies_out.take(), peer.mover->copies.take()});
  return peer.paths.choose(bytes, self < peer.number ? PathChoice::Lead::ours : PathChoice::Lead::peers);
}

// Of a smaller one, which was offered for want of credit, or because it is synchronous. Short ones come by
// the link if the one before came at this look or the last, as they do where there is credit.
bool comes_in_stream(Peer& peer, std::size_t bytes, std::uint64_t look) noexcept {
  const std::uint64_t last = std::exchange(peer.offered_at, look);
  if (bytes > peer.eager_limit_bytes) return false;
  if (bytes < TenderTurns::streamed_bytes) return look - last <= 1;
  return peer.paths.favourite(bytes) == Path::link;
}

}  // namespace

// Gets what a key is for. REQUIRES: there is a mover.
void Messenger::fetch(Request& request, Peer& peer, const RemoteKey& key, std::size_t bytes,
                      bool tendered) noexcept {
  Route* route = nullptr;
  if (!peer.mover->outruns_links(key)) {
    peer.paths.note_arrival(peer.live_sends != 0);
    const bool is_large = bytes >= options_.routed_bytes;
    const bool is_in_stream =
        !tendered && !is_large && comes_in_stream(peer, bytes, burst_) && peer.paths.may_ask();
    // Short ones of a stream tell nothing of lone ones.
    const bool may_tell = !is_in_stream || bytes >= TenderTurns::streamed_bytes;
    const Path path = is_large       ? choose_path(peer, bytes, options_.self)
                      : is_in_stream ? Path::link
                                     : Path::pull;
    const bool is_timed = is_large || (may_tell && peer.paths.wants_timing(path, bytes));
    if (is_timed || path == Path::link) route = begin_route(request, peer, key, path, is_timed);
    if (route != nullptr) route->since.in_stream = is_in_stream;
  }
  if (route == nullptr || route->path == Path::pull) return pull(request, peer, key, bytes);
  invited_.push_back(*route);
  grant(request, peer, bytes);
}

// Null: out of memory, and it is pulled.
Route* Messenger::begin_route(Request& request, Peer& peer, const RemoteKey& key, Path path,
                              bool is_timed) noexcept {
  try {
    request.route = routes_.create(request, key, path, PathChoice::Start{}, burst_);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  if (is_timed) request.route->since = peer.paths.begin(path, core_clock_.now());
  return request.route;
}

// The receive has ended, or takes another message.
void Messenger::end_route(Request& request) noexcept {
  Route* route = std::exchange(request.route, nullptr);
  const bool whole =
      route->path == Path::pull ? request.pulled : request.moved_bytes == request.message_bytes;
  if (InvitedList::is_linked(*route)) InvitedList::remove(*route);
  PathChoice& paths = request.peer->paths;
  if (route->is_timed())
    paths.end(route->path, request.message_bytes, route->since, core_clock_.now(), whole);
  else if (whole)
    paths.note_end(request.message_bytes);
  routes_.destroy(route);
}

// The data have begun to come by the link. `last_moved_at`: the look at which others came, or ours left.
void Messenger::note_invited(Request& request, std::uint64_t last_moved_at) noexcept {
  (void)end_move(request);
  Route& route = *request.route;
  if (!InvitedList::is_linked(route)) return;
  InvitedList::remove(route);
  if (!route.is_timed()) return;
  // It could have begun at once, but its caller computed, and now its background thread takes the core from
  // it; unless others had the core.
  const bool is_late = !core_clock_.is_shared() && last_moved_at <= route.asked_at &&
                       core_clock_.now() - route.since.at > late_answer;
  is_late ? request.peer->paths.note_unanswered() : request.peer->paths.note_answered();
}

// The sender does not come. REQUIRES: out of invited_.
void Messenger::stop_inviting(Request& request) noexcept {
  using Outbox = base::IntrusiveList<Request, OutboxTag>;
  Peer& peer = *request.peer;
  Route& route = *request.route;
  const auto now = core_clock_.now();
  peer.paths.note_unanswered();
  if (route.is_timed()) peer.paths.end(route.path, request.message_bytes, route.since, now, false);
  route.path = Path::pull;
  route.since = peer.paths.begin(route.path, now);
  if (Outbox::is_linked(request)) {  // the grant has not even left
    Outbox::remove(request);
    ids_.remove(std::exchange(request.id, 0));
  }
  pull(request, peer, route.key, request.message_bytes);
}

// The one that has waited longest, at each look.
std::size_t Messenger::look_after_invited() noexcept {
  Route* route = invited_.front();
  if (route == nullptr) return 0;
  const std::uint64_t news_at = std::max(route->asked_at, route->request->peer->moved_at);
  const std::uint64_t patience =
      std::max(least_patience_looks, route->request->message_bytes / bytes_per_look);
  if (burst_ - news_at < patience) {
    // Those of another peer shall not wait behind it.
    invited_.remove(*route);
    invited_.push_back(*route);
    return 0;
  }
  invited_.remove(*route);
  stop_inviting(*route->request);
  return 1;
}

// Whether to go on looking rather than lose_patience(), for somebody who was asked may have no core just now.
// Since there was news for as long as a pull would take: whoever waits in vain has paid no more than that.
bool Messenger::is_patient(base::Clock::time_point now) noexcept {
  if (!core_clock_.is_shared()) return false;
  for (Route* route = invited_.front(); route != nullptr; route = invited_.next(*route)) {
    const Request& request = *route->request;
    const std::uint64_t news_at = std::max(route->asked_at, request.peer->moved_at);
    if (std::exchange(route->news_at, news_at) != news_at)
      route->patient_until = now + request.peer->paths.pull_time(request.message_bytes);
    if (now < route->patient_until) return true;
  }
  return false;
}

std::size_t Messenger::lose_patience() noexcept {
  std::size_t moved = fill_tenders();
  for (; Route* route = invited_.pop_front(); ++moved) stop_inviting(*route->request);
  return moved;
}

}  // namespace parley::transport
