// How Messenger gets its links, one for each peer, and loses them.
//
// A process that dials may send only when the other one has welcomed the link. If both have dialled, the one
// with the higher number turns the other's link away and keeps its own; the lower welcomes what comes and
// forgets its dial. So both keep the same link, and no message is ever sent on the other.
#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

#include "transport/base/log.h"
#include "transport/protocol/messenger.h"

namespace parley::transport {

using base::Code;
using base::Status;
using Clock = std::chrono::steady_clock;

namespace {

// Before a dial that came to nothing is made again.
constexpr auto redial_after = std::chrono::seconds(2);

bool is_under_way(DialState state) noexcept {
  return state == DialState::calling || state == DialState::tentative;
}

// Somebody has to look for what comes of it.
bool is_pending(DialState state) noexcept {
  return state == DialState::asking || is_under_way(state);
}

// A host that has not been seen for as long as a dial lasts is lost; a process whose host answers may be
// stopped, or busy.
bool is_lost_host(Status status) noexcept {
  const int native = status.native();
  const bool is_unseen = native == ETIMEDOUT || native == EHOSTUNREACH || native == ENETUNREACH;
  return status.code() == Code::unreachable && is_unseen;
}

bool is_own_shortage(Status status) noexcept {
  const int native = status.native();
  return status.code() == Code::exhausted || native == EMFILE || native == ENFILE || native == ENOMEM;
}

// The first packet of a link is taken, unless the link is dead already, which on_closed() tells.
void answer_dial(Endpoint& endpoint, const PacketHeader& answer) noexcept {
  (void)endpoint.try_send(answer, {}, nullptr, Endpoint::Urgency::now);
}

}  // namespace

void Messenger::hang_up(Endpoint& endpoint) noexcept {
  ++link_calls_;
  endpoint.close();
}

void Messenger::set_dial(Peer& peer, DialState state, Endpoint* endpoint) noexcept {
  dials_under_way_ += (is_pending(state) ? 1 : 0) - (is_pending(peer.dial.state) ? 1 : 0);
  peer.dial = {state, endpoint, Clock::now()};
}

// Forgets our own dial, because there is a link or never will be one.
void Messenger::end_dial(Peer& peer) noexcept {
  Endpoint* endpoint = peer.dial.endpoint;
  set_dial(peer, DialState::none, nullptr);
  if (endpoint != nullptr) hang_up(*endpoint);
}

void Messenger::want_link(Peer& peer) noexcept {
  const bool may_dial = connect_ != nullptr && !leaving_ && peer.number != options_.self;
  if (!may_dial || peer.state != PeerState::expected || peer.dial.state != DialState::none) return;
  set_dial(peer, DialState::calling, nullptr);
  try {
    connect_(peer.number);
  } catch (const std::exception& error) {
    on_unreachable(peer.number, Code::exhausted, error.what());
  }
}

void Messenger::await_address(PeerId number) noexcept {
  set_dial(peers_[number], DialState::asking, nullptr);
}

void Messenger::take_address(PeerId number) noexcept {
  Peer& peer = peers_[number];
  if (peer.state != PeerState::expected || peer.dial.state != DialState::asking) return;
  set_dial(peer, DialState::none, nullptr);
  want_link(peer);
}

void Messenger::lack_address(PeerId number, std::string_view why) noexcept {
  if (peers_[number].dial.state == DialState::asking) on_unreachable(number, Code::unreachable, why);
}

// Somebody still waits for a peer whose dial has come to nothing, or has no answer.
void Messenger::dial_again(Peer& peer, Clock::time_point now) noexcept {
  if (peer.state != PeerState::expected) return;
  const auto since = now - peer.dial.since;
  if (peer.dial.state == DialState::resting && since >= redial_after) {
    set_dial(peer, DialState::none, nullptr);
    want_link(peer);
  } else if (peer.dial.state == DialState::tentative && since >= suspicion_after) {
    if (std::exchange(peer.pulse.suspected, true)) return;
    PARLEY_LOG(warn, "p2p", peer.title, " has not answered our connection for ",
               std::chrono::duration_cast<std::chrono::seconds>(since).count(),
               " s: the process is stopped, or kept from its core");
  }
}

void Messenger::on_link(PeerId number, Endpoint& endpoint) noexcept {
  endpoint.user = nullptr;
  if (number >= peers_.size()) {
    PARLEY_LOG(warn, "p2p", "closing the link to a rank ", number, " that there is not");
    return hang_up(endpoint);
  }
  Peer& peer = peers_[number];
  if (number == options_.self) {
    const bool is_ours = endpoint.dialled && peer.state == PeerState::expected;
    return is_ours ? bring_up(peer, endpoint) : hang_up(endpoint);
  }
  if (!endpoint.dialled) return accept_link(peer, endpoint);
  const bool is_needed = peer.state == PeerState::expected && peer.dial.endpoint == nullptr;
  if (!is_needed) return hang_up(endpoint);  // the peer's own dial has come first
  set_dial(peer, DialState::tentative, &endpoint);
}

void Messenger::accept_link(Peer& peer, Endpoint& endpoint) noexcept {
  ++link_calls_;  // it gets an answer
  const bool we_dial = peer.state == PeerState::expected && is_under_way(peer.dial.state);
  const bool we_have_dialled = peer.endpoint != nullptr && peer.endpoint->dialled;
  const bool crossed = options_.self > peer.number && connect_ != nullptr && (we_dial || we_have_dialled);
  if (crossed || peer.state != PeerState::expected) {
    PacketHeader header{.kind = PacketKind::turned_away};
    header.id = static_cast<std::uint32_t>(crossed ? TurnedAway::crossed : TurnedAway::taken);
    answer_dial(endpoint, header);
    if (!crossed) PARLEY_LOG(warn, "p2p", "closing a second link to ", peer.title);
    return hang_up(endpoint);
  }
  answer_dial(endpoint, {.kind = PacketKind::welcome});
  bring_up(peer, endpoint);
}

void Messenger::bring_up(Peer& peer, Endpoint& endpoint) noexcept {
  if (peer.dial.endpoint == &endpoint) peer.dial.endpoint = nullptr;
  end_dial(peer);
  peer.state = PeerState::up;
  peer.endpoint = &endpoint;
  peer.paths.share_cores(core_clock_.is_shared());
  peer.copy_limit_bytes = endpoint.copy_limit_bytes();
  peer.eager_limit_bytes = options_.eager_limit_bytes.value_or(endpoint.eager_limit_bytes);
  if (endpoint.mover != nullptr) {
    peer.mover = endpoint.mover;
    // The answer to a grant that crossed a fill: nothing rare, so it allocates nothing then.
    try {
      peer.revoked_ids.reserve(4);
    } catch (const std::bad_alloc&) {  // then, perhaps
    }
  }
  if (make_device_mover_) peer.device_mover = make_device_mover_(peer.number, endpoint);
  endpoint.user = &peer;
  // Whoever links later than others has heard of nothing yet.
  for (const auto& [context, record] : aborts_) {
    const bool is_owed = std::find(peer.abort_contexts.begin(), peer.abort_contexts.end(), context) !=
                         peer.abort_contexts.end();
    if (peer.number == options_.self || is_owed || !concerns(context, peer.number)) continue;
    if (!note(peer.abort_contexts, context)) peer.close_wanted = unsettled_ = true;
  }
  if (leaving_ && peer.number != options_.self) {
    peer.goodbye_wanted = true;
    peer.goodbye_culprit = leaving_->culprit;
  }
  drive(peer);
}

Peer* Messenger::dialled_with(const Endpoint& endpoint) noexcept {
  for (Peer& peer : peers_)
    if (peer.dial.endpoint == &endpoint) return &peer;
  return nullptr;
}

// The first packet on our dial.
void Messenger::handle_answer(Peer& peer, const PacketHeader& header) noexcept {
  const auto why = static_cast<TurnedAway>(header.id);
  if (header.kind == PacketKind::welcome) return bring_up(peer, *peer.dial.endpoint);
  end_dial(peer);
  if (header.kind != PacketKind::turned_away) {
    PARLEY_LOG(warn, "p2p", "closing the dial to ", peer.title, ": its first packet is no answer");
    return fail_peer(peer, Code::protocol_violation, peer.number);
  }
  if (why == TurnedAway::crossed && connect_ != nullptr) return set_dial(peer, DialState::resting, nullptr);
  peer.unreachable = "it has, or had, a link to a process of our number";
  fail_peer(peer, Code::refused, peer.number);
}

void Messenger::on_unreachable(PeerId number, Status status, std::string_view why) noexcept {
  if (number >= peers_.size()) return;
  Peer& peer = peers_[number];
  if (peer.state != PeerState::expected) return;
  if (other_way_ != nullptr && !leaving_ && other_way_(number, why)) return;
  const bool is_news = std::exchange(peer.unreachable, why) != why;
  const bool is_over = leaving_ || status.code() == Code::refused || number == options_.self;
  if (connect_ == nullptr || is_over) return fail_peer(peer, status, number);
  // All were there when the world was made. So nobody listening means gone, as does a host that is; anything
  // else may pass, and is tried again while somebody waits.
  if (status.native() == ECONNREFUSED || is_lost_host(status)) return fail_peer(peer, Code::gone, number);
  set_dial(peer, DialState::resting, nullptr);
  if (is_news) PARLEY_LOG(warn, "p2p", "no link to ", peer.title, " yet: ", why);
  if (is_own_shortage(status)) fail_requests(peer, {Code::exhausted, status.native()});
}

void Messenger::note_fate(std::uint32_t number, Status fate, std::uint32_t culprit) noexcept {
  Peer& peer = peers_[number];
  // A dial under way may turn out to be a link with messages in it.
  const bool is_unmet = peer.state == PeerState::expected && !is_under_way(peer.dial.state);
  const bool is_gone = peer.state == PeerState::down && peer.reason.code() == Code::gone;
  if (!is_unmet && !is_gone) return;
  peer.reason = {};  // so far nobody knew how it had ended
  fail_peer(peer, fate, culprit);
}

// Our dial has ended without an answer.
void Messenger::lose_dial(Peer& peer, Status reason) noexcept {
  peer.dial.endpoint = nullptr;
  if (connect_ != nullptr && reason.code() != Code::closed)
    return set_dial(peer, DialState::resting, nullptr);
  set_dial(peer, DialState::none, nullptr);
  const bool is_ours = reason.code() == Code::closed;
  fail_peer(peer, is_ours ? reason : Status(Code::peer_died, reason.native()), peer.number);
}

void Messenger::on_closed(Endpoint& endpoint, Status reason) noexcept {
  auto* peer = static_cast<Peer*>(endpoint.user);
  if (peer == nullptr) {  // a dial without an answer, or a link that was turned away
    if (Peer* dialled = dialled_with(endpoint); dialled != nullptr) lose_dial(*dialled, reason);
    return;
  }
  if (peer->endpoint != &endpoint) return;
  peer->endpoint = nullptr;
  if (endpoint.mover != nullptr) peer->mover = nullptr;
  DeviceMover* const device_mover = std::exchange(peer->device_mover, nullptr);
  set_blocked(*peer, false);
  if (peer->state == PeerState::left)
    reason = peer->reason;
  else if (peer->close_reason.failed())
    reason = peer->close_reason;
  else if (reason.code() == Code::io_error)
    reason = Status(Code::peer_died, reason.native());
  const bool is_gone = reason.code() == Code::peer_died || reason.code() == Code::peer_left;
  if (device_mover != nullptr && is_gone) device_mover->release_waiters();
  fail_peer(*peer, reason, peer->culprit);
  if (device_mover != nullptr) {
    device_mover->end();
    if (!device_mover->look_after_end()) ended_movers_.push_back(device_mover);
  }
}

}  // namespace parley::transport
