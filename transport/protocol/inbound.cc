// What Messenger makes of packets that arrive.
#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/base/copy_bulk.h"
#include "transport/base/log.h"
#include "transport/base/read_alone.h"
#include "transport/protocol/messenger.h"
#include "transport/protocol/moving.h"

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

// Whether a message that came whole, as those of a stream do, tells something about paths.
bool may_be_pulled(const Peer& peer, std::size_t bytes) noexcept {
  return bytes >= TenderTurns::streamed_bytes && peer.mover != nullptr;
}

// One that may_be_pulled(). What was found is told with the credit that goes back.
void copy_timed(Peer& peer, const Request& request, std::span<const std::byte> payload, std::uint64_t look,
                CoreClock& clock) noexcept {
  peer.paths.note_arrival(peer.live_sends != 0);
  peer.landing.begin(peer.paths, clock, payload.size(), payload.size(), look, peer.burst, true);
  copy_bytes(request.data, payload.data(), payload.size());
  const bool from_memory = peer.endpoint != nullptr && peer.endpoint->lands_from_memory;
  peer.landing.end(peer.paths, clock, payload.size(), look, from_memory);
}

// Nobody will look at what lands here: the link is closing, or shall.
base::MemoryRef land_nowhere() noexcept {
  static std::byte nowhere[max_payload_bytes];
  return {nowhere, sizeof(nowhere)};
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
    case PacketKind::offer: return handle_offer(peer, header, payload, KeyKind::of_mover);
    case PacketKind::tender: return handle_offer(peer, header, payload, KeyKind::of_tender);
    case PacketKind::device_offer: return handle_offer(peer, header, payload, KeyKind::of_device_mover);
    case PacketKind::device_note: return handle_note(peer, payload);
    case PacketKind::fill: return handle_fill(peer, header, payload, nullptr);
    case PacketKind::grant: return handle_grant(peer, header, payload);
    case PacketKind::pushed: return handle_pushed(peer, header);
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
          if (request.device != nullptr) return land_for_device(peer, request, header.payload_bytes);
          if (peer.mover != nullptr) {
            peer.paths.note_arrival(peer.live_sends != 0);
            peer.landing.begin(peer.paths, core_clock_, header.payload_bytes, endpoint.first_piece_bytes,
                               burst_, peer.burst, endpoint.sender_was_ahead);
          }
          return {request.data, request.capacity_bytes};
        }
      }
    } else if (header.kind == PacketKind::data) {
      if (Request* request = data_target(peer, header); request != nullptr) {
        peer.landing_request = request;
        if (request->device != nullptr) return land_for_device(peer, *request, header.payload_bytes);
        return {request->data + header.tag, header.payload_bytes};
      }
    } else if (header.kind == PacketKind::fill) {
      if (Request* request = fill_target(peer, header); request != nullptr) {
        peer.landing_request = request;
        if (request->device != nullptr) return land_for_device(peer, *request, header.payload_bytes);
        return {request->data, header.payload_bytes};
      }
    }
    return land_in_buffer(peer, header.payload_bytes);
  }
  return land_nowhere();
}

base::MemoryRef Messenger::land_in_buffer(Peer& peer, std::size_t bytes) noexcept {
  peer.landing_buffer = buffers_.take(bytes);
  peer.landing_bytes = bytes;
  if (peer.landing_buffer != nullptr) return {peer.landing_buffer, bytes};
  run_short(peer, "an unexpected message");
  return land_nowhere();
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
  if (request != nullptr && request->device != nullptr) landed_for_device(peer, *request, header, buffer);
  if (request == nullptr && !is_eager) {
    if (buffer != nullptr) on_packet(endpoint, header, {buffer, header.payload_bytes});
  } else if (take_credit(peer, header)) {
    // An eager message without a receive adopts the buffer, or gives it back.
    const std::span<const std::byte> payload(buffer, header.payload_bytes);
    if (request == nullptr && is_fill) return handle_fill(peer, header, payload, buffer);
    if (request == nullptr) return handle_eager(peer, header, payload, buffer);
    if (is_eager) {
      peer.landing.end(peer.paths, core_clock_, header.payload_bytes, burst_, endpoint.lands_from_memory);
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
  request.envelope = {base::read_alone(envelope.context), base::read_alone(envelope.source),
                      base::read_alone(envelope.tag), envelope.note};
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
  Status status = describe_match(request, peer, envelope, header.type_code, payload.size());
  if (request.device != nullptr) [[unlikely]]
    write_to_device(request, 0, payload, status);
  else if (status.ok())
    may_be_pulled(peer, payload.size()) ? copy_timed(peer, request, payload, burst_, core_clock_)
                                        : copy_message(request.data, payload);
  if (adoptable != nullptr) buffers_.give(adoptable, payload.size());
  owe(peer, payload.size());
  finish(request, status);  // no posted receive has a number or a mover
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
  if (request->exposure != 0) (void)end_move(*request);  // the sender cannot push
  const std::uint64_t last_at = std::exchange(peer.moved_at, burst_);
  if (request->route != nullptr) note_invited(*request, last_at);
  return request;
}

void Messenger::handle_data(Peer& peer, const PacketHeader& header,
                            std::span<const std::byte> payload) noexcept {
  Request* request = data_target(peer, header);
  if (request == nullptr) return;
  if (request->device != nullptr)
    write_to_device(*request, request->moved_bytes, payload, request->ending);
  else
    copy_bytes(request->data + request->moved_bytes, payload.data(), payload.size());
  piece_landed(*request, payload.size());
}

void Messenger::piece_landed(Request& request, std::size_t bytes) noexcept {
  request.moved_bytes += bytes;
  if (request.ending.failed() || request.moved_bytes == request.granted_bytes) complete(request, {});
}

void Messenger::handle_abort(Peer& peer, const PacketHeader& header,
                             std::span<const std::byte> payload) noexcept {
  if (header.id - 1 >= peers_.size()) return violate(peer, "an abort by nobody");
  if (contexts_.is_closed(header.context)) return;
  if (abort_record(header.context) == nullptr && aborts_.size() >= max_told_aborts)
    return violate(peer, "more aborts than there are groups");
  const std::string_view reason(reinterpret_cast<const char*>(payload.data()), payload.size());
  auto manner = static_cast<AbortManner>(header.tag);
  if (manner != AbortManner::gentle && manner != AbortManner::bereaved) manner = AbortManner::prompt;
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
