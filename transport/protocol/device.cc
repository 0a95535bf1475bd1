// Memory that no CPU reaches (Request::device), as far as Messenger does not treat it like any other.
//
// A send of it is always offered. If the peer's process can reach the device, the offer has a key of the
// device mover, and a receive on a device copies by itself; what has to be known beforehand (device_note) is
// sent ahead. Or that receive grants it with the key of a place, and the sender copies there. Else it is
// granted, and leaves piece by piece as each has come to memory of the host. A send's course is
//
//   offered --pulled--> done
//   offered --granted with a place--> pushed: done
//   offered --granted--> streaming --> done
//   offered --taken back--> done, or, when its receiver was first: lent --pulled--> done
//
// What arrives for a receive lands in memory of the host and goes on from there; the receive is complete when
// the last copy to the device is on its way.
#include <utility>

#include "transport/base/copy_bulk.h"
#include "transport/base/log.h"
#include "transport/protocol/messenger.h"
#include "transport/protocol/moving.h"

namespace parley::transport {

using base::Code;
using base::Status;

// Where a payload for this receive lands.
base::MemoryRef Messenger::land_for_device(Peer& peer, Request& request, std::size_t bytes) noexcept {
  peer.landing_place = request.device->landing_place(bytes);
  if (peer.landing_place != nullptr) return {peer.landing_place, bytes};
  return land_in_buffer(peer, bytes);
}

void landed_for_device(Peer& peer, Request& request, const PacketHeader& header,
                       const std::byte* buffer) noexcept {
  const std::size_t offset = header.kind == PacketKind::data ? request.moved_bytes : 0;
  std::byte* const place = std::exchange(peer.landing_place, nullptr);
  if (place == nullptr) {
    if (buffer != nullptr) write_to_device(request, offset, {buffer, header.payload_bytes}, request.ending);
  } else if (request.ending.failed()) {
    request.device->abandon(place);
  } else {
    request.ending = request.device->landed(place, offset, header.payload_bytes);
  }
}

void write_to_device(Request& request, std::size_t offset, std::span<const std::byte> payload,
                     Status& status) noexcept {
  if (!status.failed()) status = request.device->write(offset, payload);
}

// False: the link takes no more.
bool Messenger::send_notes(Peer& peer) noexcept {
  if (peer.device_mover == nullptr) return true;
  for (auto note = peer.device_mover->next_note(); !note.empty(); note = peer.device_mover->next_note()) {
    PacketHeader header{.kind = PacketKind::device_note};
    header.payload_bytes = static_cast<std::uint32_t>(note.size());
    Status outcome;
    if (!transmit(peer, header, note.data(), nullptr, Endpoint::Urgency::batch, outcome)) return false;
    peer.device_mover->note_sent();
  }
  return true;
}

void Messenger::handle_note(Peer& peer, std::span<const std::byte> note) noexcept {
  // Without a mover here nothing is pulled, and all that is offered is granted.
  if (peer.device_mover != nullptr && !peer.device_mover->take_note(note))
    violate(peer, "a malformed note of device memory");
}

// A receive whose copy the sender's device shall make answers with its place; the others pull.
void Messenger::bring_to_device(Request& request, Peer& peer, const RemoteKey& key,
                                std::size_t bytes) noexcept {
  if (peer.device_mover->leaves_copy_to_peer(key, *request.device) && expose_place(peer, request, bytes))
    return grant(request, peer, bytes);
  // A key that cannot be pulled from is `unreachable`.
  const Status status = peer.device_mover->pull_to_device(key, *request.device, bytes);
  request.pulled = status.ok();
  if (status.code() == Code::device_failed) request.ending = status;
  grant(request, peer, request.pulled || request.ending.failed() ? 0 : bytes);
}

// A granted send. False: its data go by the link. Where the receive has ended meanwhile nobody wants them,
// and what is told of them is for nobody.
bool Messenger::push_from_device(Request& request, Peer& peer, std::span<const std::byte> place) noexcept {
  RemoteKey key;
  if (request.device == nullptr || peer.device_mover == nullptr || place.size() != key.bytes.size())
    return false;
  base::copy_bytes(key.bytes.data(), place.data(), place.size());
  if (peer.goodbye_sent) return complete(request, {}), true;  // nobody could be told any more
  const Status status = peer.device_mover->push_from_device(key, *request.device, request.granted_bytes);
  request.pulled = status.ok();
  if (status.code() == Code::device_failed)
    request.ending = status;
  else if (!request.pulled && status.code() != Code::cancelled)
    return false;
  const bool has_left =
      !peer.blocked && !peer.goodbye_sent && peer.outbox.empty() && send_pushed(peer, request);
  if (!has_left) enqueue(peer, request, Errand::pushed);
  complete(request, {});
  if (!has_left && !peer.blocked) drive(peer);
  return true;
}

bool Messenger::send_pushed(Peer& peer, const Request& request) noexcept {
  PacketHeader header{.kind = PacketKind::pushed};
  header.id = request.remote_id;
  header.tag = request.pulled ? 1 : 0;
  Status outcome;
  return transmit(peer, header, nullptr, nullptr, Endpoint::Urgency::now, outcome);
}

void Messenger::handle_pushed(Peer& peer, const PacketHeader& header) noexcept {
  Request* const request = ids_.find(header.id);
  if (request == nullptr) return;  // it has ended
  const bool valid = request->peer == &peer && request->kind == RequestKind::receive &&
                     request->state == RequestState::moving && request->exposure != 0 &&
                     !base::IntrusiveList<Request, OutboxTag>::is_linked(*request);
  if (!valid) return violate(peer, "a push that no receive expects");
  request->mover = nullptr;
  const std::uint64_t place = std::exchange(request->exposure, 0);
  Status came = Code::device_failed;
  if (header.tag == 1)
    came = peer.device_mover->note_pushed(place, *request->device, request->granted_bytes);
  else
    peer.device_mover->note_pulled(place);
  if (!request->ending.failed()) request->ending = came;
  request->pulled = true;
  request->moved_bytes = request->granted_bytes;
  complete(*request, {});
}

bool recall_from_device(Request& request) noexcept {
  if (request.mover->withdraw(request.exposure)) {
    request.mover = nullptr;
    request.exposure = 0;
    return true;
  }
  if (request.kind == RequestKind::send) request.state = RequestState::lent;
  return false;
}

// The first granted send whose next piece may leave. Null: there is none now; look_after_devices() goes on
// where pieces are on their way from a device.
Request* Messenger::next_stream(Peer& peer) noexcept {
  for (Request* request = peer.streams.front(); request != nullptr;) {
    Request* const next = peer.streams.next(*request);
    if (request->device == nullptr || request->piece_out) return request;
    std::span<const std::byte> piece;
    const Status status = request->device->next_piece(piece);
    if (status.ok()) return request;
    if (status.failed())
      lose_device(peer, *request, status);
    else
      awaits_device_ = true;
    request = next;
  }
  return nullptr;
}

// In the middle of a message, the rest of which its receiver waits for: the link ends, and says so to both.
void Messenger::lose_device(Peer& peer, Request& request, Status status) noexcept {
  PARLEY_LOG(warn, "p2p", "closing the link to ", peer.title,
             ": a message could not be read: ", status.describe());
  base::IntrusiveList<Request, StreamTag>::remove(request);
  complete(request, status);
  peer.close_wanted = unsettled_ = true;
}

std::size_t Messenger::look_after_devices() noexcept {
  awaits_device_ = false;
  const std::uint64_t ended = ended_count_;
  for (Peer& peer : peers_)
    if (!peer.blocked && !peer.streams.empty()) drive(peer);
  settle();
  return ended_count_ - ended;
}

void release_device(Request& request) noexcept {
  std::exchange(request.device, nullptr)->release();
}

}  // namespace parley::transport
