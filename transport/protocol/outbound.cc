// What Messenger sends: messages, offers, pieces, and the controls between two processes.
#include <algorithm>
#include <utility>

#include "transport/protocol/messenger.h"
#include "transport/protocol/moving.h"

namespace parley::transport {

using base::Code;
using base::Status;
using Urgency = Endpoint::Urgency;

namespace {
// A receiver as fast as we are never blocks the link; others want the lock and the core now and then.
constexpr int pieces_per_turn = 4;
// Less takes no time that would matter to a pull.
constexpr std::size_t least_own_piece = 4096;
// What the link takes only from time to time if its peer does not read.
constexpr std::size_t least_moved_piece = 64 << 10;
}  // namespace

Posted Messenger::send(const SendSpec& spec) noexcept {
  Peer& peer = peers_[spec.destination];
  if (abort_record(spec.context) != nullptr) return {note_end(Code::aborted, &peer)};
  if (peer.state == PeerState::left || peer.state == PeerState::down) return {note_end(peer.reason, &peer)};
  if (leaving_) return {Code::closed};  // another thread is at it
  if (contexts_.has_left(spec.context, spec.destination)) return {Code::peer_left};

  const Urgency urgency = is_held_back_ || peer.burst == burst_ ? spec.urgency : Urgency::now;
  peer.burst = burst_;

  // The short way: nothing waits before it, the link copies it, and no request is needed.
  const bool eager = !spec.synchronous && wants_eager(peer, spec.bytes);
  const bool in_turn = peer.endpoint != nullptr && !peer.blocked && peer.outbox.empty();
  if (eager && in_turn && spec.bytes <= peer.copy_limit_bytes) {
    PacketHeader header{.kind = PacketKind::eager, .type_code = spec.type_code, .context = spec.context};
    header.tag = spec.tag;
    header.payload_bytes = static_cast<std::uint32_t>(spec.bytes);
    header.message_bytes = spec.bytes;
    Status outcome;
    if (transmit(peer, header, spec.data, nullptr, urgency, outcome)) {
      peer.credit_units -= credit_units(spec.bytes);
      return {};
    }
  }

  if (peer.state == PeerState::expected) want_link(peer);
  if (peer.state == PeerState::down) return {note_end(peer.reason, &peer)};
  if (peer.live_sends >= max_envelopes) return {Code::exhausted};
  Request* request = new_request(RequestKind::send);
  if (request == nullptr) return {Code::exhausted};
  request->peer = &peer;
  ++peer.live_sends;
  request->envelope = {spec.context, options_.self, spec.tag};
  request->type_code = spec.type_code;
  request->data = const_cast<std::byte*>(spec.data);  // a send only reads it
  request->capacity_bytes = request->message_bytes = spec.bytes;
  request->device = spec.device;
  request->timeout = spec.timeout;
  request->gives_up = spec.gives_up;
  if (!eager) {
    request->id = ids_.add(*request);
    if (request->id == 0) {
      complete(*request, Code::exhausted);
      release(*request);
      return {Code::exhausted};
    }
  }
  const Errand errand = eager ? Errand::eager : Errand::offer;
  request->errand = errand;
  if (!in_turn || !run_send_errand(peer, *request, urgency)) enqueue(peer, *request, errand);
  return {Code::in_progress, request};
}

bool Messenger::wants_eager(const Peer& peer, std::size_t bytes) const noexcept {
  return bytes <= peer.eager_limit_bytes && credit_units(bytes) <= peer.credit_units;
}

// Hands one packet to the link, with the credit we owe. True: taken, at once or `in_progress`. False: what is
// to be sent waits for on_writable(), or for on_closed(): a link that has failed tells why only after all
// that it brought, which may name a deeper cause.
// The header is handed on and not copied: a load that is wider than the stores that have just made it waits
// until they have left this core's store buffer, behind those into the peer's cache.
bool Messenger::transmit(Peer& peer, PacketHeader& header, const std::byte* payload, Completion* done,
                         Urgency urgency, Status& outcome) noexcept {
  header.credits = static_cast<std::uint16_t>(peer.owed_units);
  ++link_calls_;
  outcome = peer.endpoint->try_send(header, {payload, header.payload_bytes}, done, urgency);
  if (outcome.ok() || outcome.code() == Code::in_progress) {
    peer.held_units -= std::exchange(peer.owed_units, 0);
    if (header.payload_bytes >= least_own_piece) peer.paths.note_own_piece();
    if (header.payload_bytes >= least_moved_piece) peer.moved_at = burst_;
    return true;
  }
  set_blocked(peer, true);
  return false;
}

void Messenger::set_blocked(Peer& peer, bool blocked) noexcept {
  if (std::exchange(peer.blocked, blocked) == blocked) return;
  blocked_peers_ += blocked ? 1 : -1;
}

void Messenger::enqueue(Peer& peer, Request& request, Errand errand) noexcept {
  request.errand = errand;
  peer.outbox.push_back(request);
}

// Sends all that waits for this peer, as far as the link takes it: controls, the outbox in order, departures,
// then pieces.
void Messenger::drive(Peer& peer) noexcept {
  if (peer.endpoint == nullptr || peer.goodbye_sent) return;
  set_blocked(peer, false);
  if (!send_controls(peer)) return;
  while (Request* request = peer.outbox.front()) {
    if (!run_errand(peer, *request)) return;
  }
  // Behind the answers in the outbox: the peer takes what has no answer yet for lost.
  while (!peer.departed_contexts.empty()) {
    PacketHeader header{.kind = PacketKind::departed, .context = peer.departed_contexts.back()};
    Status outcome;
    if (!transmit(peer, header, nullptr, nullptr, Urgency::now, outcome)) return;
    peer.departed_contexts.pop_back();
  }
  for (int pieces = 0; Request* request = next_stream(peer); ++pieces) {
    if (pieces == pieces_per_turn) {
      peer.yielded = yielded_ = true;
      return;
    }
    if (request->piece_out || !send_piece(peer, *request)) return;
  }
  if (!peer.streams.empty()) return;  // their next pieces come from devices
  if (!peer.goodbye_wanted) return;
  PacketHeader header{.kind = PacketKind::goodbye};
  header.id = peer.goodbye_culprit ? *peer.goodbye_culprit + 1 : 0;
  Status outcome;
  peer.goodbye_sent = transmit(peer, header, nullptr, nullptr, Urgency::now, outcome);
}

bool Messenger::send_controls(Peer& peer) noexcept {
  Status outcome;
  const auto send_control = [&](PacketHeader header, const std::byte* payload = nullptr) {
    return transmit(peer, header, payload, nullptr, Urgency::now, outcome);
  };
  while (!peer.abort_contexts.empty()) {
    PacketHeader header{.kind = PacketKind::abort, .context = peer.abort_contexts.front()};
    const AbortRecord& record = aborts_[header.context];
    header.id = record.by + 1;
    header.tag = static_cast<std::int64_t>(record.manner);
    header.payload_bytes = static_cast<std::uint32_t>(record.reason.size());
    if (!send_control(header, reinterpret_cast<const std::byte*>(record.reason.data()))) return false;
    peer.abort_contexts.erase(peer.abort_contexts.begin());
    forget_abort(header.context);
  }
  // The oldest first: who has accepted several offers that are revoked takes its receives back in this order.
  const auto send_ids = [&](PacketKind kind, std::vector<std::uint32_t>& ids) {
    std::size_t sent = 0;
    for (; sent < ids.size(); ++sent) {
      PacketHeader header{.kind = kind};
      header.id = ids[sent];
      if (!send_control(header)) break;
    }
    ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(sent));
    return ids.empty();
  };
  if (!send_ids(PacketKind::revoke, peer.revoke_ids) || !send_ids(PacketKind::revoked, peer.revoked_ids))
    return false;
  if (peer.stall_wanted) {
    if (!send_control(peer.stall)) return false;
    peer.stall_wanted = false;
  }
  if (peer.resume_wanted) {
    if (!send_control({.kind = PacketKind::resume})) return false;
    peer.resume_wanted = false;
  }
  if (peer.ping_wanted) {
    if (!send_control({.kind = PacketKind::ping})) return false;
    peer.ping_wanted = false;
  }
  if (peer.pong_wanted) {
    if (!send_control({.kind = PacketKind::pong})) return false;
    peer.pong_wanted = false;
  }
  if (const std::uint32_t pulled = peer.paths.pulled_classes(); pulled != peer.told_pulled_classes) {
    PacketHeader header{.kind = PacketKind::preference};
    header.id = pulled;
    if (!send_control(header)) return false;
    peer.told_pulled_classes = pulled;
  }
  if (peer.owed_units >= credit_return_units && !send_control({.kind = PacketKind::credit})) return false;
  return true;
}

// The first of the outbox. False: the link takes no more.
bool Messenger::run_errand(Peer& peer, Request& request) noexcept {
  if (request.errand == Errand::fill) {
    if (!send_fill(peer, request)) return false;
    base::IntrusiveList<Request, OutboxTag>::remove(request);
    if (request.state == RequestState::done) finish_errand(request);
    return true;
  }
  if (request.errand == Errand::pushed) {
    if (!send_pushed(peer, request)) return false;
    base::IntrusiveList<Request, OutboxTag>::remove(request);
    finish_errand(request);
    return true;
  }
  if (request.kind == RequestKind::send) {
    // Credit may have come or gone while it waited; its place in the order stays.
    if (request.errand == Errand::offer || !wants_eager(peer, request.message_bytes)) {
      request.errand = Errand::offer;
      if (request.id == 0 && (request.id = ids_.add(request)) == 0) {
        base::IntrusiveList<Request, OutboxTag>::remove(request);
        complete(request, Code::exhausted);
        return true;
      }
    }
    // They leave together with the last one, and at once: a sender that waits goes on as soon as it is taken.
    const bool is_last = peer.outbox.next(request) == nullptr;
    if (!run_send_errand(peer, request, is_last ? Urgency::now : Urgency::batch)) return false;
    base::IntrusiveList<Request, OutboxTag>::remove(request);
    if (request.state == RequestState::done) finish_errand(request);
    return true;
  }
  if (!send_grant(peer, request)) return false;
  base::IntrusiveList<Request, OutboxTag>::remove(request);
  finish_errand(request);
  return true;
}

bool Messenger::send_grant(Peer& peer, const Request& request) noexcept {
  PacketHeader header{.kind = PacketKind::grant};
  header.id = request.remote_id;
  header.tag = request.granted_bytes != 0 ? request.id : request.pulled ? 1 : 0;
  header.message_bytes = request.granted_bytes;
  Status outcome;
  if (request.exposure == 0 || request.granted_bytes == 0)
    return transmit(peer, header, nullptr, nullptr, Urgency::now, outcome);
  if (!send_notes(peer)) return false;
  const RemoteKey place = peer.device_mover->key_of(request.exposure);
  header.payload_bytes = static_cast<std::uint32_t>(place.bytes.size());
  return transmit(peer, header, place.bytes.data(), nullptr, Urgency::now, outcome);
}

// Sends the message or its offer. True: taken, and the request has its next state.
bool Messenger::run_send_errand(Peer& peer, Request& request, Urgency urgency) noexcept {
  std::optional<Exposure> exposure;
  // A key without a handle cannot be withdrawn.
  if (request.errand == Errand::eager && wants_tender(peer, request)) exposure = expose(peer, request);
  if (exposure && exposure->handle == 0) exposure.reset();
  const bool tender = exposure.has_value();
  const bool eager = request.errand == Errand::eager && !tender;
  PacketHeader header{.kind = eager    ? PacketKind::eager
                              : tender ? PacketKind::tender
                                       : PacketKind::offer,
                      .type_code = request.type_code};
  header.context = request.envelope.context;
  header.tag = request.envelope.tag;
  header.id = eager ? 0 : request.id;
  header.message_bytes = request.message_bytes;
  header.payload_bytes = eager ? static_cast<std::uint32_t>(request.message_bytes) : 0;
  const std::byte* payload = eager ? request.data : nullptr;
  if (request.device != nullptr) {
    header.kind = PacketKind::device_offer;
    exposure = expose_device(peer, request);
    if (!send_notes(peer)) {
      (void)end_move(request);
      return false;
    }
  } else if (!eager && !tender && peer.mover != nullptr) {
    exposure = expose(peer, request);
  }
  if (exposure) {
    payload = exposure->key.bytes.data();
    header.payload_bytes = static_cast<std::uint32_t>(exposure->key.bytes.size());
  }
  Status outcome;
  request.fn = on_payload_read;
  if (!transmit(peer, header, payload, &request, urgency, outcome)) {
    (void)end_move(request);
    return false;
  }
  request.errand = Errand::none;
  if (eager) peer.credit_units -= credit_units(request.message_bytes);
  if (tender)
    begin_tender(peer, request);
  else if (exposure)
    peer.paths.note_offered(request.message_bytes);
  if (outcome.code() == Code::in_progress) {
    request.state = RequestState::leaving;
  } else if (!eager) {
    request.state = RequestState::offered;
  } else {
    complete(request, {});
  }
  return true;
}

// The next piece of a granted send. False: the link takes no more, or still reads this piece.
bool Messenger::send_piece(Peer& peer, Request& request) noexcept {
  const std::size_t left = request.granted_bytes - request.moved_bytes;
  std::span<const std::byte> piece;
  if (request.device == nullptr)
    piece = {request.data + request.moved_bytes, std::min(left, options_.piece_bytes)};
  else
    (void)request.device->next_piece(piece);  // it is there: next_stream()
  PacketHeader header{.kind = PacketKind::data};
  header.tag = static_cast<std::int64_t>(request.moved_bytes);
  header.id = request.remote_id;
  header.payload_bytes = static_cast<std::uint32_t>(piece.size());
  Status outcome;
  request.fn = on_payload_read;
  if (!transmit(peer, header, piece.data(), &request, Urgency::now, outcome)) return false;
  request.moved_bytes += piece.size();
  if (outcome.code() == Code::in_progress) {
    request.piece_out = true;
    return false;
  }
  if (request.device != nullptr) request.device->piece_sent();
  if (request.moved_bytes == request.granted_bytes) {
    base::IntrusiveList<Request, StreamTag>::remove(request);
    complete(request, {});
  }
  return true;
}

void Messenger::on_payload_read(Completion& completion, Status status) noexcept {
  auto& request = static_cast<Request&>(completion);
  static_cast<Messenger*>(request.owner)->payload_read(request, status);
}

// The link no longer reads the payload of this request.
void Messenger::payload_read(Request& request, Status status) noexcept {
  Peer& peer = *request.peer;
  if (!status.ok()) {  // the link has closed; on_closed() follows and ends the request with the reason
    request.piece_out = false;
    request.state = RequestState::queued;
    if (base::IntrusiveList<Request, StreamTag>::is_linked(request))
      base::IntrusiveList<Request, StreamTag>::remove(request);
    return;
  }
  if (request.state == RequestState::leaving) return complete(request, {});
  request.piece_out = false;
  if (request.device != nullptr) request.device->piece_sent();
  if (request.moved_bytes == request.granted_bytes || request.ending.failed()) {
    base::IntrusiveList<Request, StreamTag>::remove(request);
    complete(request, {});
  }
  drive(peer);
}

}  // namespace parley::transport
