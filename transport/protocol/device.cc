// Memory that no CPU reaches (Request::device), as far as Messenger does not treat it like any other.
//
// A send of it is always offered. If the peer's process can reach the device, the offer has a key of the
// device mover, and a receive on a device copies by itself; what has to be known beforehand (device_note) is
// sent ahead. Else it is granted, and leaves piece by piece as each has come to memory of the host. A send's
// course is
//
//   offered --pulled--> done
//   offered --granted--> streaming --> done
//   offered --taken back--> done, or, when its receiver was first: lent --pulled--> done
//
// What arrives for a receive lands in memory of the host and goes on from there; the receive is complete when
// the last copy to the device is on its way.
#include <utility>

#include "transport/base/log.h"
#include "transport/protocol/messenger.h"

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

void Messenger::pull_to_device(Request& request, Peer& peer, const RemoteKey& key,
                               std::size_t bytes) noexcept {
  const Status status = peer.device_mover->pull_to_device(key, *request.device, bytes);
  request.pulled = status.ok();
  if (status.code() == Code::device_failed) request.ending = status;
  grant(request, peer, request.pulled || request.ending.failed() ? 0 : bytes);
}

bool recall_from_device(Request& request) noexcept {
  if (request.mover->withdraw(request.exposure)) {
    request.mover = nullptr;
    request.exposure = 0;
    return true;
  }
  request.state = RequestState::lent;
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
