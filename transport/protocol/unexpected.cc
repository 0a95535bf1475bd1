// Messages that came before their receive: kept, found, given up.
#include <new>

#include "transport/base/copy_bulk.h"
#include "transport/protocol/messenger.h"

namespace parley::transport {

using base::copy_bytes;
using base::Status;

// A message or an offer that nobody has asked for yet.
void Messenger::keep(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload,
                     std::byte* adoptable) noexcept {
  const bool is_closed = contexts_.is_closed(header.context);
  if (is_closed || abort_record(header.context) != nullptr) {  // nobody will ever ask for it
    if (adoptable != nullptr) buffers_.give(adoptable, payload.size());
    if (header.kind == PacketKind::eager) owe(peer, payload.size());
    if (is_closed && header.kind != PacketKind::eager) {  // its sender may have had no link when we closed it
      remind_of_departure(peer, header.context);
    }
    return;
  }
  Unexpected* message = nullptr;
  try {
    message = messages_.create();
  } catch (const std::bad_alloc&) {
    if (adoptable != nullptr) buffers_.give(adoptable, payload.size());
    return run_short(peer, "an unexpected message");
  }
  message->peer = &peer;
  message->envelope = envelope_of(peer, header);
  message->type_code = header.type_code;
  message->message_bytes = header.message_bytes;
  if (header.kind != PacketKind::eager) {
    message->state = UnexpectedState::offered;
    message->remote_id = header.id;
    message->key = payload.empty()                           ? KeyKind::none
                   : header.kind == PacketKind::device_offer ? KeyKind::of_device_mover
                   : header.kind == PacketKind::tender       ? KeyKind::of_tender
                                                             : KeyKind::of_mover;
    copy_bytes(message->small.data(), payload.data(), payload.size());
    if (!list_offer(*message)) return messages_.destroy(message);
  } else if (!store(*message, payload, adoptable)) {
    return messages_.destroy(message);
  }
  matcher_.keep(*message);
}

// Keeps the payload of a message. False: out of memory, the link ends.
bool Messenger::store(Unexpected& message, std::span<const std::byte> payload,
                      std::byte* adoptable) noexcept {
  if (adoptable != nullptr) {
    message.payload = adoptable;
    return true;
  }
  const bool small = payload.size() <= message.small.size();
  std::byte* const place = small ? message.small.data() : buffers_.take(payload.size());
  if (place == nullptr) {
    run_short(*message.peer, "an unexpected message");
    return false;
  }
  copy_bytes(place, payload.data(), payload.size());
  message.payload = place;
  return true;
}

// The data of an offer are here before anybody asked for them: it is an eager message from now on.
void Messenger::land_offer(Unexpected& offer, std::span<const std::byte> payload,
                           std::byte* adoptable) noexcept {
  if (payload.size() != offer.message_bytes) {
    if (adoptable != nullptr) buffers_.give(adoptable, payload.size());
    return violate(*offer.peer, "a fill that is not what was offered");
  }
  if (!store(offer, payload, adoptable)) return;
  unlist_offer(offer);
  offer.state = UnexpectedState::landed;
}

bool Messenger::list_offer(Unexpected& offer) noexcept {
  Peer& peer = *offer.peer;
  if (peer.offers.size() >= max_envelopes) {
    violate(peer, "too many offers");
    return false;
  }
  try {
    if (peer.offers.add(offer.remote_id, offer)) return true;
    violate(peer, "two offers of one number");
  } catch (const std::bad_alloc&) {
    run_short(peer, "an offer");
  }
  return false;
}

void Messenger::unlist_offer(const Unexpected& message) noexcept {
  message.peer->offers.remove(message.remote_id, message);
}

// A posted or new receive gets a message that waited.
void Messenger::take_arrival(Request& request, Unexpected& message) noexcept {
  Peer& peer = *message.peer;
  Status status = describe_match(request, peer, message.envelope, message.type_code, message.message_bytes);
  if (message.state == UnexpectedState::offered) {
    request.ending = status;
    const std::uint32_t remote_id = message.remote_id;
    const KeyKind kind = message.key;
    RemoteKey key;
    copy_bytes(key.bytes.data(), message.small.data(), key.bytes.size());
    dispose(message);
    return accept_offer(request, peer, remote_id, kind, key);
  }
  if (request.device != nullptr) [[unlikely]]
    write_to_device(request, 0, {message.payload, message.message_bytes}, status);
  else if (status.ok())
    copy_bytes(request.data, message.payload, message.message_bytes);
  owe(peer, message.message_bytes);
  dispose(message);
  complete(request, status);
}

void Messenger::hold(Unexpected& message) noexcept {
  matcher_.take(message);
  message.held = true;
}

bool stands(const Unexpected& message) noexcept {
  if (message.state != UnexpectedState::offered) return true;
  return message.peer->offers.find(message.remote_id) == &message;
}

void Messenger::put_back(Unexpected& message) noexcept {
  message.held = false;
  if (!stands(message) || abort_record(message.envelope.context) != nullptr) return drop(message);
  if (PostedReceive* posted = matcher_.put_back(message); posted != nullptr)
    take_arrival(static_cast<Request&>(*posted), message);
}

// Gives a message up that nobody will receive; its sender gets the credit back.
void Messenger::drop(Unexpected& message) noexcept {
  if (message.state == UnexpectedState::landed) owe(*message.peer, message.message_bytes);
  dispose(message);
}

void Messenger::drop_unmatched(const std::function<bool(const Unexpected&)>& which) noexcept {
  for (Arrival* arrival = matcher_.oldest_arrival(); arrival != nullptr;) {
    auto& message = static_cast<Unexpected&>(*arrival);
    arrival = matcher_.next_arrival(*arrival);
    if (!which(message)) continue;
    matcher_.take(message);
    drop(message);
  }
}

void Messenger::dispose(Unexpected& message) noexcept {
  if (message.state == UnexpectedState::offered) unlist_offer(message);
  if (message.payload != nullptr && !message.is_small())
    buffers_.give(message.payload, message.message_bytes);
  messages_.destroy(&message);
}

}  // namespace parley::transport
