// What Messenger leaves to movers: offers with a key, and pulls.
//
// A request that a mover works for has `mover` set. Whichever way it ends, complete() ends the mover's work
// first: a receive's buffer is not written any more then, and what is read of a send's is thrown away by its
// reader.
#include <utility>

#include "transport/protocol/messenger.h"
#include "transport/protocol/moving.h"

namespace parley::transport {

using base::Code;
using base::Status;

std::optional<Exposure> expose(const Peer& peer, Request& request) noexcept {
  auto exposure = peer.mover->expose({request.data, request.message_bytes});
  if (exposure && exposure->handle != 0) {
    request.mover = peer.mover;
    request.exposure = exposure->handle;
  }
  return exposure;
}

std::optional<Exposure> expose_device(const Peer& peer, Request& request) noexcept {
  if (peer.device_mover == nullptr || request.message_bytes == 0) return std::nullopt;
  auto exposure = peer.device_mover->expose_device(*request.device);
  if (exposure && exposure->handle != 0) {
    request.mover = peer.device_mover;
    request.exposure = exposure->handle;
  }
  return exposure;
}

bool expose_place(const Peer& peer, Request& request, std::size_t bytes) noexcept {
  const auto exposure = peer.device_mover->expose_place(*request.device, bytes);
  if (!exposure) return false;
  request.mover = peer.device_mover;
  request.exposure = exposure->handle;
  return true;
}

// The peer has told that it has pulled the message.
void Messenger::note_pulled(Request& request) noexcept {
  Peer& peer = *request.peer;
  peer.tenders.pulled_at = peer.moved_at = burst_;
  peer.tenders.skip_next = TenderHabits::least_skip;
  peer.paths.note_taken(request.message_bytes, Path::pull);
  if (Mover* mover = std::exchange(request.mover, nullptr); mover != nullptr)
    mover->note_pulled(std::exchange(request.exposure, 0));
}

bool end_move(Request& request) noexcept {
  Mover* mover = std::exchange(request.mover, nullptr);
  if (mover == nullptr) return true;
  if (request.exposure != 0) return mover->withdraw(std::exchange(request.exposure, 0));
  mover->stop(request);
  return true;
}

void Messenger::pull(Request& request, Peer& peer, const RemoteKey& key, std::size_t bytes) noexcept {
  request.fn = on_pulled;
  const Status status = peer.mover->pull(key, {request.data, bytes}, request);
  if (status.code() != Code::in_progress) return pulled(request, status, false);
  request.mover = peer.mover;
  ++link_calls_;
}

void Messenger::on_pulled(Completion& completion, Status status) noexcept {
  auto& request = static_cast<Request&>(completion);
  request.mover = nullptr;
  static_cast<Messenger*>(request.owner)->pulled(request, status, true);
}

// The mover has copied everything, which ends the send as well; or it could not be copied, and the data go by
// the link; or the sender was first: then it has taken the message back, and answers the grant with that, or
// has sent the data unasked, and they come before that answer. A grant that has left is answered anyhow. What
// a mover brings in its turn, during a pass, is told at the end of that, together: the next copy would wait
// for each word to get to the peer's core.
void Messenger::pulled(Request& request, Status status, bool in_its_turn) noexcept {
  request.pulled = status.ok();
  if (!request.pulled && request.id != 0) return;
  Peer& peer = *request.peer;
  if (request.pulled && request.route == nullptr) peer.paths.note_end(request.message_bytes);
  grant(request, peer, request.pulled ? 0 : request.message_bytes, request.pulled && in_its_turn);
  tell_preference(peer);
}

}  // namespace parley::transport
