// What Messenger makes of packets that arrive.
#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/base/log.h"
#include "transport/protocol/messenger.h"

namespace parley::transport {

using base::Code;
using base::copy_bytes;
using base::Status;

namespace {

bool types_agree(std::uint8_t a, std::uint8_t b) noexcept {
  return a == b || a == untyped || b == untyped;
}

// As copy_bytes(). Messages of a word or two are copied by two moves that may overlap, without a call.
void copy_message(std::byte* to, std::span<const std::byte> from) noexcept {
  const std::size_t bytes = from.size();
  if (bytes < 8 || bytes > 16) return copy_bytes(to, from.data(), bytes);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::memcpy(&first, from.data(), 8);
  std::memcpy(&last, from.data() + bytes - 8, 8);
  std::memcpy(to, &first, 8);
  std::memcpy(to + bytes - 8, &last, 8);
}

}  // namespace

void Messenger::on_packet(Endpoint& endpoint, const PacketHeader& header,
                          std::span<const std::byte> payload) noexcept {
  auto* known = static_cast<Peer*>(endpoint.user);
  if (known == nullptr) {
    if (Peer* dialled = dialled_with(endpoint); dialled != nullptr) handle_answer(*dialled, header);
    return;
  }
  Peer& peer = *known;
  ++peer.heard;
  if (!take_credit(peer, header)) return;
  switch (header.kind) {
    case PacketKind::eager: return handle_eager(peer, header, payload, nullptr);
    case PacketKind::offer: return handle_offer(peer, header, payload);
    case PacketKind::fill: return handle_fill(peer, header, payload, nullptr);
    case PacketKind::grant: return handle_grant(peer, header);
    case PacketKind::data: return handle_data(peer, header, payload);
    case PacketKind::revoke: return handle_revoke(peer, header);
    case PacketKind::revoked: return handle_revoked(peer, header);
    case PacketKind::credit: return;
    case PacketKind::abort: return handle_abort(peer, header, payload);
    case PacketKind::stall:
      peer.told_us.valid = true;
      peer.told_us.is_send = (header.id & stall_of_send) != 0;
      peer.told_us.may_be_helped = (header.id & stall_may_be_helped) != 0;
      peer.told_us.type_code = header.type_code;
      peer.told_us.envelope = envelope_of(peer, header);
      peer.told_us.message_bytes = header.message_bytes;
      peer.told_us.since = std::chrono::steady_clock::now();
      // Now, before a packet behind this one can end it in another way: both sides shall get the error.
      if ((header.id & stall_is_deadlock) != 0 && peer.told_about != nullptr &&
          try_end(*peer.told_about, Code::deadlocked) && !peer.blocked)
        drive(peer);  // takes our offer back before anything else follows
      if (contexts_.is_closed(header.context)) remind_of_departure(peer, header.context);
      return;
    case PacketKind::resume: peer.told_us.valid = false; return;
    case PacketKind::ping:
      peer.pong_wanted = true;
      if (!peer.blocked) drive(peer);
      return;
    case PacketKind::pong: return;
    case PacketKind::welcome:
    case PacketKind::turned_away: return violate(peer, "an answer to no dial");
    case PacketKind::goodbye: return handle_goodbye(peer, header);
    case PacketKind::preference: return peer.tender_turns.hear(header.id);
    case PacketKind::departed: return handle_departed(peer, header);
  }
  violate(peer, "unknown packet kind");
}

base::MemoryRef Messenger::on_header(Endpoint& endpoint, const PacketHeader& header) noexcept {
  auto* known = static_cast<Peer*>(endpoint.user);
  if (known != nullptr) {
    Peer& peer = *known;
    if (header.kind == PacketKind::eager && header.payload_bytes == header.message_bytes) {
      const Envelope envelope = envelope_of(peer, header);
      if (PostedReceive* posted = matcher_.match_arrival(envelope); posted != nullptr) {
        auto& request = static_cast<Request&>(*posted);
        request.state = RequestState::moving;
        request.ending = describe_match(request, peer, envelope, header.type_code, header.message_bytes);
        peer.landing_request = &request;
        if (!request.ending.failed()) {
          if (peer.mover != nullptr) peer.landing.begin(peer.paths, header.payload_bytes, burst_);
          return {request.data, request.capacity_bytes};
        }
      }
    } else if (header.kind == PacketKind::data) {
      if (Request* request = data_target(peer, header); request != nullptr) {
        peer.landing_request = request;
        return {request->data + header.tag, header.payload_bytes};
      }
    } else if (header.kind == PacketKind::fill) {
      if (Request* request = fill_target(peer, header); request != nullptr) {
        peer.landing_request = request;
        return {request->data, header.payload_bytes};
      }
    }
    peer.landing_buffer = buffers_.take(header.payload_bytes);
    peer.landing_bytes = header.payload_bytes;
    if (peer.landing_buffer != nullptr) return {peer.landing_buffer, header.payload_bytes};
    run_short(peer, "an unexpected message");
  }
  // Nobody will look at what lands here: the link is closing, or shall.
  static std::byte nowhere[max_payload_bytes];
  return {nowhere, sizeof(nowhere)};
}

void Messenger::on_landed(Endpoint& endpoint, const PacketHeader& header) noexcept {
  auto* known = static_cast<Peer*>(endpoint.user);
  if (known == nullptr) {
    if (Peer* dialled = dialled_with(endpoint); dialled != nullptr) handle_answer(*dialled, header);
    return;
  }
  Peer& peer = *known;
  ++peer.heard;
  Request* request = std::exchange(peer.landing_request, nullptr);
  std::byte* buffer = std::exchange(peer.landing_buffer, nullptr);
  const bool is_fill = header.kind == PacketKind::fill;
  const bool is_eager = header.kind == PacketKind::eager || is_fill;
  if (request == nullptr && !is_eager) {
    if (buffer != nullptr) on_packet(endpoint, header, {buffer, header.payload_bytes});
  } else if (take_credit(peer, header)) {
    // An eager message without a receive adopts the buffer, or gives it back.
    const std::span<const std::byte> payload(buffer, header.payload_bytes);
    if (request == nullptr && is_fill) return handle_fill(peer, header, payload, buffer);
    if (request == nullptr) return handle_eager(peer, header, payload, buffer);
    if (is_eager) {
      peer.landing.end(peer.paths, header.payload_bytes, burst_);
      tell_preference(peer);
      if (hold_window(peer, header.payload_bytes)) owe(peer, header.payload_bytes);
      complete(*request, {});
    } else {
      piece_landed(*request, header.payload_bytes);
    }
  }
  if (buffer != nullptr) buffers_.give(buffer, header.payload_bytes);
}

// The credit that a packet brings. False: more than was ever lent.
bool Messenger::take_credit(Peer& peer, const PacketHeader& header) noexcept {
  peer.credit_units += header.credits;
  if (peer.credit_units <= eager_window_units) return true;
  violate(peer, "credit that was never taken");
  return false;
}

// Room in the peer's window for an eager message that is here. False: it sends without credit.
bool Messenger::hold_window(Peer& peer, std::size_t payload_bytes) noexcept {
  peer.held_units += credit_units(payload_bytes);
  if (peer.held_units <= eager_window_units) return true;
  violate(peer, "an eager message without credit");
  return false;
}

// Fills in what a matched receive now knows. A failure: the message does not fit it.
Status Messenger::describe_match(Request& request, Peer& peer, const Envelope& envelope,
                                 std::uint8_t type_code, std::size_t message_bytes) const noexcept {
  request.peer = &peer;
  request.envelope = envelope;
  request.remote_type_code = type_code;
  request.message_bytes = message_bytes;
  if (!types_agree(request.type_code, type_code)) return Code::mismatched;
  if (message_bytes > request.capacity_bytes) return Code::truncated;
  return {};
}

void Messenger::owe(Peer& peer, std::size_t payload_bytes) noexcept {
  peer.owed_units += credit_units(payload_bytes);
  const bool may_send = peer.endpoint != nullptr && !peer.blocked && !peer.goodbye_sent;
  if (peer.owed_units >= credit_return_units && may_send) send_controls(peer);
}

// Whether an eager message or a fill may come in; if not, `adoptable` goes back.
bool Messenger::admit_whole(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload,
                            std::byte* adoptable) noexcept {
  const bool is_whole = payload.size() == header.message_bytes;
  if (!is_whole) violate(peer, "an eager message or a fill that is not whole");
  if (is_whole && hold_window(peer, payload.size())) return true;
  if (adoptable != nullptr) buffers_.give(adoptable, payload.size());
  return false;
}

Envelope Messenger::envelope_of(const Peer& peer, const PacketHeader& header) const noexcept {
  if (!has_notes(header.context)) return {header.context, peer.number, header.tag};
  constexpr std::uint64_t note_mask = (std::uint64_t{1} << note_bits) - 1;
  return {header.context, peer.number, header.tag >> note_bits,
          static_cast<std::uint64_t>(header.tag) & note_mask};
}

// A whole eager message. `adoptable`: its payload is this pool buffer, which goes to the message or back.
void Messenger::handle_eager(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload,
                             std::byte* adoptable) noexcept {
  if (!admit_whole(peer, header, payload, adoptable)) return;
  const Envelope envelope = envelope_of(peer, header);
  PostedReceive* posted = matcher_.match_arrival(envelope);
  if (posted == nullptr) return keep(peer, header, payload, adoptable);
  auto& request = static_cast<Request&>(*posted);
  const Status status = describe_match(request, peer, envelope, header.type_code, payload.size());
  if (status.ok()) copy_message(request.data, payload);
  if (adoptable != nullptr) buffers_.give(adoptable, payload.size());
  owe(peer, payload.size());
  finish(request, status);  // no posted receive has a number or a mover
}

void Messenger::handle_offer(Peer& peer, const PacketHeader& header,
                             std::span<const std::byte> payload) noexcept {
  RemoteKey key;
  if (!payload.empty() && payload.size() != key.bytes.size()) return violate(peer, "a malformed offer");
  const Envelope envelope = envelope_of(peer, header);
  PostedReceive* posted = matcher_.match_arrival(envelope);
  if (posted == nullptr) return keep(peer, header, payload, nullptr);
  copy_bytes(key.bytes.data(), payload.data(), payload.size());
  auto& request = static_cast<Request&>(*posted);
  request.ending = describe_match(request, peer, envelope, header.type_code, header.message_bytes);
  accept_offer(request, peer, header.id, payload.empty() ? nullptr : &key);
}

// Gets the data of an offer: by the mover that its key is for, else by a grant. A receive that cannot take
// them, or needs none, asks for 0 bytes and ends.
void Messenger::accept_offer(Request& request, Peer& peer, std::uint32_t remote_id,
                             const RemoteKey* key) noexcept {
  request.state = RequestState::moving;
  request.remote_id = remote_id;
  const std::size_t wanted = request.ending.failed() ? 0 : request.message_bytes;
  // Our own send may have been taken back while its offer was on the way: then there is nothing to pull from.
  const bool stands = peer.number != options_.self || ids_.find(remote_id) != nullptr;
  if (wanted != 0 && key != nullptr) peer.fillable.push_back(request);
  if (wanted != 0 && key != nullptr && peer.mover != nullptr && stands)
    return fetch(request, peer, *key, wanted);
  grant(request, peer, wanted);
}

void Messenger::grant(Request& request, Peer& peer, std::size_t bytes) noexcept {
  request.granted_bytes = bytes;
  if (bytes != 0 && (request.id = ids_.add(request)) == 0) {
    request.ending = Code::exhausted;
    request.granted_bytes = 0;
  }
  const bool in_turn = peer.endpoint != nullptr && !peer.blocked && !peer.goodbye_sent && peer.outbox.empty();
  const bool has_left = in_turn && send_grant(peer, request);
  if (!has_left) enqueue(peer, request, Errand::grant);
  if (request.granted_bytes == 0) complete(request, {});
  if (!has_left && !peer.blocked) drive(peer);
}

void Messenger::handle_grant(Peer& peer, const PacketHeader& header) noexcept {
  Request* request = ids_.find(header.id);
  const auto receive_id = static_cast<std::uint32_t>(header.tag);
  const bool valid = request != nullptr && request->peer == &peer && request->kind == RequestKind::send &&
                     (request->state == RequestState::offered || request->errand == Errand::fill);
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
  if (!end_move(*request)) return complete(*request, {});  // it was pulled meanwhile
  if (request->tendered_units != 0) {
    end_tender(*request);
    note_unpulled(peer);
  }
  request->state = RequestState::streaming;
  request->remote_id = receive_id;
  request->granted_bytes = std::min<std::size_t>(header.message_bytes, request->message_bytes);
  request->moved_bytes = 0;
  peer.streams.push_back(*request);
  if (!peer.blocked) drive(peer);
}

// The receive that a piece belongs to. Null: it has ended (its group was aborted), or the peer is wrong.
Request* Messenger::data_target(Peer& peer, const PacketHeader& header) noexcept {
  Request* request = ids_.find(header.id);
  if (request == nullptr) return nullptr;
  const auto offset = static_cast<std::uint64_t>(header.tag);
  const bool valid = request->peer == &peer && request->kind == RequestKind::receive &&
                     request->state == RequestState::moving && offset == request->moved_bytes &&
                     header.payload_bytes <= request->granted_bytes - request->moved_bytes;
  if (!valid) {
    violate(peer, "data that no receive expects");
    return nullptr;
  }
  const std::uint64_t last_at = std::exchange(peer.data_at, burst_);
  if (request->route != nullptr) note_invited(*request, last_at);
  return request;
}

void Messenger::handle_data(Peer& peer, const PacketHeader& header,
                            std::span<const std::byte> payload) noexcept {
  Request* request = data_target(peer, header);
  if (request == nullptr) return;
  copy_bytes(request->data + request->moved_bytes, payload.data(), payload.size());
  piece_landed(*request, payload.size());
}

void Messenger::piece_landed(Request& request, std::size_t bytes) noexcept {
  request.moved_bytes += bytes;
  if (request.ending.failed() || request.moved_bytes == request.granted_bytes) complete(request, {});
}

void Messenger::handle_revoke(Peer& peer, const PacketHeader& header) noexcept {
  Unexpected* offer = peer.offers.find(header.id);
  if (offer == nullptr) {
    // Matched meanwhile. The sender answers a grant with `revoked`; a pull ends here.
    Request* request = receive_of(peer, header.id);
    if (request == nullptr || request->mover == nullptr) return;
    (void)end_move(*request);
    if (request->id != 0) return;  // our grant has left, too
    return wait_again(*request);
  }
  if (offer->held) return unlist_offer(*offer);  // its handle finds it so
  matcher_.take(*offer);
  dispose(*offer);
}

// Our grant came too late.
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

void Messenger::handle_abort(Peer& peer, const PacketHeader& header,
                             std::span<const std::byte> payload) noexcept {
  if (header.id - 1 >= peers_.size()) return violate(peer, "an abort by nobody");
  if (contexts_.is_closed(header.context)) return;
  if (abort_record(header.context) == nullptr && aborts_.size() >= max_told_aborts)
    return violate(peer, "more aborts than there are groups");
  const std::string_view reason(reinterpret_cast<const char*>(payload.data()), payload.size());
  const auto manner = header.tag == static_cast<std::int64_t>(AbortManner::gentle) ? AbortManner::gentle
                                                                                   : AbortManner::prompt;
  if (!abort_context(header.context, header.id - 1, reason, manner)) run_short(peer, "an abort");
}

void Messenger::handle_goodbye(Peer& peer, const PacketHeader& header) noexcept {
  peer.state = PeerState::left;
  const bool names_culprit = header.id != 0 && header.id - 1 < peers_.size();
  const auto farewell = static_cast<Farewell>(header.tag);
  if (farewell == Farewell::giving_up)
    fail_peer(peer, Code::given_up, peer.number);
  else if (farewell == Farewell::complaining)
    fail_peer(peer, Code::protocol_violation, options_.self);  // ours, says the peer
  else if (names_culprit)
    fail_peer(peer, Code::peer_died, header.id - 1);
  else
    fail_peer(peer, Code::peer_left, peer.number);
}

}  // namespace parley::transport
