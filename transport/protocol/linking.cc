// How Messenger gets its links, one for each peer, and loses them.
//
// A process that dials may send only when the other one has welcomed the link. If both have dialled, the one
// with the higher number turns the other's link away and keeps its own; the lower welcomes what comes and
// forgets its dial. So both keep the same link, and no packet is ever sent on the other.
#include <exception>
#include <utility>

#include "transport/base/log.h"
#include "transport/protocol/messenger.h"

namespace parley::transport {

using base::Code;
using base::Status;

namespace {
// With the dial of a peer that has turned ours away for it.
constexpr auto patience = std::chrono::seconds(2);
}  // namespace

void Messenger::want_link(Peer& peer) noexcept {
  if (connect_ == nullptr || peer.state != PeerState::expected || peer.number == options_.self) return;
  if (std::exchange(peer.dialling, true)) return;
  peer.dial_under_way = true;
  ++dials_under_way_;
  try {
    connect_(peer.number);
  } catch (const std::exception& error) {
    on_unreachable(peer.number, Code::exhausted, error.what());
  }
}

void Messenger::end_dial(Peer& peer) noexcept {
  if (std::exchange(peer.dial_under_way, false)) --dials_under_way_;
}

void Messenger::on_link(PeerId number, Endpoint& endpoint) noexcept {
  endpoint.user = nullptr;
  if (number >= peers_.size()) {
    PARLEY_LOG(warn, "p2p", "closing the link to a rank ", number, " that there is not");
    return endpoint.close();
  }
  Peer& peer = *peers_[number];
  if (number == options_.self) return bring_up(peer, endpoint);
  if (!endpoint.dialled) return accept_link(peer, endpoint);
  const bool is_needed = peer.state == PeerState::expected && peer.dial == nullptr;
  if (!is_needed) return endpoint.close();  // the peer's own dial has come first
  peer.dial = &endpoint;
}

void Messenger::accept_link(Peer& peer, Endpoint& endpoint) noexcept {
  const bool crossed = peer.dialling && options_.self > peer.number;
  if (crossed || peer.state != PeerState::expected) {
    PacketHeader header{.kind = PacketKind::turned_away};
    header.id = static_cast<std::uint32_t>(crossed ? TurnedAway::crossed : TurnedAway::taken);
    answer_dial(endpoint, header);
    if (!crossed) PARLEY_LOG(warn, "p2p", "closing a second link to rank ", peer.number);
    return endpoint.close();
  }
  answer_dial(endpoint, {.kind = PacketKind::welcome});
  if (Endpoint* own = std::exchange(peer.dial, nullptr); own != nullptr) own->close();
  end_dial(peer);
  bring_up(peer, endpoint);
}

// The first packet of a link is taken, unless the link is dead already, which on_closed() tells.
void Messenger::answer_dial(Endpoint& endpoint, const PacketHeader& answer) noexcept {
  (void)endpoint.try_send(answer, {}, nullptr, Endpoint::Urgency::now);
}

void Messenger::bring_up(Peer& peer, Endpoint& endpoint) noexcept {
  peer.state = PeerState::up;
  peer.endpoint = &endpoint;
  endpoint.user = &peer;
  drive(peer);
}

Peer* Messenger::dialled_with(const Endpoint& endpoint) noexcept {
  for (auto& peer : peers_)
    if (peer->dial == &endpoint) return peer.get();
  return nullptr;
}

// The peer's answer to our dial.
void Messenger::handle_answer(Peer& peer, const PacketHeader& header) noexcept {
  Endpoint& endpoint = *std::exchange(peer.dial, nullptr);
  end_dial(peer);
  if (header.kind == PacketKind::welcome) return bring_up(peer, endpoint);
  endpoint.close();
  const bool crossed = header.kind == PacketKind::turned_away &&
                       static_cast<TurnedAway>(header.id) == TurnedAway::crossed && connect_ != nullptr;
  if (crossed)
    peer.turned_away_at = std::chrono::steady_clock::now();
  else
    on_unreachable(peer.number, Code::refused, "it has, or had, a link to a process of our number");
}

// The peer's own dial should have come long ago.
void Messenger::dial_again(Peer& peer, std::chrono::steady_clock::time_point now) noexcept {
  const bool turned_away = peer.turned_away_at.time_since_epoch().count() != 0;
  if (!turned_away || peer.state != PeerState::expected || now - peer.turned_away_at < patience) return;
  peer.turned_away_at = {};
  peer.dialling = false;
  want_link(peer);
}

void Messenger::on_unreachable(PeerId number, Status status, std::string_view why) noexcept {
  if (number >= peers_.size()) return;
  end_dial(*peers_[number]);
  if (peers_[number]->state != PeerState::expected) return;
  unreachable_[number] = why;
  // Once all have been called, only the dead cannot be reached.
  const bool is_gone = connect_ != nullptr && status.code() == Code::unreachable;
  fail_peer(*peers_[number], is_gone ? Status(Code::peer_died, status.native()) : status, number);
}

void Messenger::on_closed(Endpoint& endpoint, Status reason) noexcept {
  auto* peer = static_cast<Peer*>(endpoint.user);
  if (peer == nullptr) {  // a dial without an answer, or a link that was turned away
    peer = dialled_with(endpoint);
    if (peer == nullptr) return;
    peer->dial = nullptr;
    end_dial(*peer);
    return fail_peer(*peer, reason.code() == Code::closed ? reason : Status(Code::peer_died, reason.native()),
                     peer->number);
  }
  peer->endpoint = nullptr;
  set_blocked(*peer, false);
  if (peer->state == PeerState::left)
    reason = peer->reason;
  else if (peer->close_reason.failed())
    reason = peer->close_reason;
  else if (reason.code() == Code::io_error)
    reason = Status(Code::peer_died, reason.native());
  fail_peer(*peer, reason, peer->culprit);
}

}  // namespace parley::transport
