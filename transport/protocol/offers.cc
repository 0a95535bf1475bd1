// What Messenger makes of offers: how they are granted, and taken back.
#include <algorithm>
#include <utility>

#include "transport/base/copy_bulk.h"
#include "transport/protocol/messenger.h"
#include "transport/protocol/moving.h"

namespace parley::transport {

using base::Code;
using base::copy_bytes;
using base::Status;

void Messenger::handle_offer(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload,
                             KeyKind kind) noexcept {
  RemoteKey key;
  if (payload.empty()) kind = KeyKind::none;
  if (!payload.empty() && payload.size() != key.bytes.size()) return violate(peer, "a malformed offer");
  const Envelope envelope = envelope_of(peer, header);
  PostedReceive* posted = matcher_.match_arrival(envelope);
  if (posted == nullptr) return keep(peer, header, payload, nullptr);
  copy_bytes(key.bytes.data(), payload.data(), payload.size());
  auto& request = static_cast<Request&>(*posted);
  request.ending = describe_match(request, peer, envelope, header.type_code, header.message_bytes);
  accept_offer(request, peer, header.id, kind, key);
}

// Gets the data of an offer: by the mover that its key is for, else by a grant. A receive that cannot take
// them, or needs none, asks for 0 bytes and ends.
void Messenger::accept_offer(Request& request, Peer& peer, std::uint32_t remote_id, KeyKind kind,
                             const RemoteKey& key) noexcept {
  request.state = RequestState::moving;
  request.remote_id = remote_id;
  const std::size_t wanted = request.ending.failed() ? 0 : request.message_bytes;
  // Our own send may have been taken back while its offer was on the way: then there is nothing to pull from.
  const bool stands = peer.number != options_.self || ids_.find(remote_id) != nullptr;
  const bool is_on_device = request.device != nullptr;
  if (wanted != 0) peer.accepted.push_back(request);
  const bool is_of_mover = kind == KeyKind::of_mover || kind == KeyKind::of_tender;
  if (wanted != 0 && is_of_mover && peer.mover != nullptr && stands && !is_on_device)
    return fetch(request, peer, key, wanted, kind == KeyKind::of_tender);
  if (wanted != 0 && kind == KeyKind::of_device_mover && is_on_device && peer.device_mover != nullptr &&
      stands)
    return bring_to_device(request, peer, key, wanted);
  grant(request, peer, wanted);
}

void Messenger::grant(Request& request, Peer& peer, std::size_t bytes, bool at_end_of_pass) noexcept {
  request.granted_bytes = bytes;
  if (bytes != 0 && (request.id = ids_.add(request)) == 0) {
    request.ending = Code::exhausted;
    request.granted_bytes = 0;
  }
  const bool in_turn = peer.endpoint != nullptr && !peer.blocked && !peer.goodbye_sent && peer.outbox.empty();
  const bool has_left = in_turn && !at_end_of_pass && send_grant(peer, request);
  if (!has_left) enqueue(peer, request, Errand::grant);
  if (request.granted_bytes == 0) complete(request, {});
  if (at_end_of_pass)
    peer.yielded = yielded_ = true;
  else if (!has_left && !peer.blocked)
    drive(peer);
}

void Messenger::handle_grant(Peer& peer, const PacketHeader& header,
                             std::span<const std::byte> place) noexcept {
  Request* request = ids_.find(header.id);
  const auto receive_id = static_cast<std::uint32_t>(header.tag);
  const bool valid = request != nullptr && request->peer == &peer && request->kind == RequestKind::send &&
                     (request->state == RequestState::offered || request->state == RequestState::lent ||
                      request->errand == Errand::fill);
  if (!valid) {
    // The offer was revoked while the grant was on its way.
    if (header.message_bytes == 0) return;
    if (peer.revoked_ids.size() >= max_envelopes) return violate(peer, "too many grants of nothing");
    if (!note(peer.revoked_ids, receive_id)) return run_short(peer, "an answer to a late grant");
    if (!peer.blocked) drive(peer);
    return;
  }
  // A fill that has not left is not needed any more.
  if (std::exchange(request->errand, Errand::none) == Errand::fill)
    base::IntrusiveList<Request, OutboxTag>::remove(*request);
  if (header.message_bytes == 0) {
    if (header.tag == 1) note_pulled(*request);
    return complete(*request, {});
  }
  if (!end_move(*request)) {  // it was pulled meanwhile
    peer.paths.note_taken(request->message_bytes, Path::pull);
    return complete(*request, {});
  }
  if (request->tendered_units != 0) {
    end_tender(*request);
    note_unpulled(peer);
  }
  request->state = RequestState::streaming;
  request->remote_id = receive_id;
  request->granted_bytes = std::min<std::size_t>(header.message_bytes, request->message_bytes);
  request->moved_bytes = 0;
  if (!place.empty() && push_from_device(*request, peer, place)) return;
  peer.paths.note_taken(request->message_bytes, Path::link);
  if (request->device != nullptr) request->device->begin_reading(request->granted_bytes, peer.number);
  peer.streams.push_back(*request);
  if (!peer.blocked) drive(peer);
}

void Messenger::handle_revoke(Peer& peer, const PacketHeader& header) noexcept {
  Unexpected* offer = peer.offers.find(header.id);
  if (offer == nullptr) {
    // Matched meanwhile. The receive does not wait for the answer to a grant that has left, which finds
    // nothing: what the sender has sent since then could overtake it.
    Request* request = receive_of(peer, header.id);
    if (request == nullptr) return;
    using Outbox = base::IntrusiveList<Request, OutboxTag>;
    if (Outbox::is_linked(*request)) Outbox::remove(*request);
    if (request->id != 0) ids_.remove(std::exchange(request->id, 0));
    (void)end_move(*request);
    return wait_again(*request);
  }
  if (offer->held) return unlist_offer(*offer);  // its handle finds it so
  matcher_.take(*offer);
  dispose(*offer);
}

// Our grant came too late, and the sender had no memory to say so before.
void Messenger::handle_revoked(Peer& peer, const PacketHeader& header) noexcept {
  Request* request = ids_.find(header.id);
  if (request == nullptr || request->peer != &peer || request->state != RequestState::moving) return;
  // A peer that has our grant cannot find it in our outbox.
  if (base::IntrusiveList<Request, OutboxTag>::is_linked(*request))
    return violate(peer, "an answer to a grant that has not left");
  ids_.remove(std::exchange(request->id, 0));
  (void)end_move(*request);
  wait_again(*request);
}

// The message was taken back: the receive goes back to its place and waits for another one.
void Messenger::wait_again(Request& request) noexcept {
  if (request.ending.failed()) return complete(request, {});
  using Stream = base::IntrusiveList<Request, StreamTag>;
  if (Stream::is_linked(request)) Stream::remove(request);
  if (request.route != nullptr) end_route(request);
  request.state = RequestState::posted;
  request.message_bytes = request.moved_bytes = request.granted_bytes = 0;
  // A probed message was received by its handle alone: no other one can take its place.
  if (request.serial == 0) return complete(request, Code::cancelled);
  if (request.pattern.source == any_source) request.peer = nullptr;
  if (Arrival* arrival = matcher_.repost(request); arrival != nullptr) {
    take_arrival(request, static_cast<Unexpected&>(*arrival));
  } else if (const Status obstacle = receive_obstacle(request.pattern); obstacle.failed()) {
    matcher_.unpost(request);
    complete(request, obstacle);
  }
}

}  // namespace parley::transport
