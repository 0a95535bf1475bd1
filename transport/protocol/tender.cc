// Eager messages that their receiver may pull.
//
// Within the eager limit and the credit, but larger than the link copies at once: over a link with a mover
// such a message is tendered. It is offered with a key, and a receiver that has asked for it pulls it in one
// copy. If that does not happen soon, the sender withdraws the key and sends the data unasked (`fill`), as it
// would have sent an eager message: what it may rely on is the same, two ranks that send to each other first
// included.
//
// Which of the two it was is decided where the key is withdrawn: a receiver that was first ends the send; one
// that was not asks by a grant, and finds the fill before the answer, for it left before that. So a tender's
// course is
//
//   offered --pulled--> done
//   offered --granted--> streaming --> done              (the receiver cannot pull)
//   offered --withdrawn--> queued (Errand::fill) --> leaving --> done
#include <algorithm>
#include <utility>

#include "transport/base/copy_bulk.h"
#include "transport/protocol/messenger.h"
#include "transport/protocol/moving.h"

namespace parley::transport {

using base::Code;
using base::copy_bytes;
using base::Status;
using Urgency = Endpoint::Urgency;

namespace {
// Looks at the network without any news of a pull: several times as long as a receiver that waits needs for
// the largest eager message.
constexpr std::uint64_t patience_looks = 2048;
// A peer that pulls other messages is given more time, but not for ever.
constexpr std::uint64_t most_patience_looks = 8 * patience_looks;
}  // namespace

// Whoever tenders to us hears what has turned out to be faster.
void Messenger::tell_preference(Peer& peer) noexcept {
  const bool is_news = peer.paths.pulled_classes() != peer.told_pulled_classes;
  if (is_news && peer.endpoint != nullptr && !peer.blocked && !peer.goodbye_sent) send_controls(peer);
}

// Whether an eager message is tendered; it has a number then.
bool Messenger::wants_tender(Peer& peer, Request& request) noexcept {
  const bool may_be =
      peer.mover != nullptr && peer.number != options_.self && request.message_bytes > peer.copy_limit_bytes;
  const bool is_alone = peer.live_sends == 1;
  if (!may_be || (request.message_bytes < TenderTurns::streamed_bytes && !is_alone)) return false;
  if (peer.tenders.skip != 0) {
    --peer.tenders.skip;
    return false;
  }
  if (!peer.tender_turns.next(request.message_bytes) &&
      !peer.mover->shows({request.data, request.message_bytes}))
    return false;
  return request.id != 0 || (request.id = ids_.add(request)) != 0;
}

void Messenger::begin_tender(Peer& peer, Request& request) noexcept {
  request.tendered_units = credit_units(request.message_bytes);
  peer.credit_units -= request.tendered_units;
  request.tendered_at = burst_;
  tendered_.push_back(request);
}

// The peer has not pulled what was tendered: it is busy with something else and will be for a while, or it
// cannot. What happens in one go counts once.
void Messenger::note_unpulled(Peer& peer) noexcept {
  TenderHabits& habits = peer.tenders;
  const bool is_news = habits.unpulled_at == 0 || burst_ - habits.unpulled_at > patience_looks;
  habits.unpulled_at = burst_;
  if (!is_news) return;
  habits.skip = habits.skip_next;
  habits.skip_next = std::min(2 * habits.skip_next, TenderHabits::most_skip);
}

void end_tender(Request& request) noexcept {
  using Stream = base::IntrusiveList<Request, StreamTag>;
  request.peer->credit_units += std::exchange(request.tendered_units, 0);
  if (Stream::is_linked(request)) Stream::remove(request);
}

// One at each look, in turn.
std::size_t Messenger::look_after_tenders() noexcept {
  Request* request = tendered_.pop_front();
  if (request == nullptr) return 0;
  const std::uint64_t news_at = std::max(request->tendered_at, request->peer->tenders.pulled_at);
  if (burst_ - news_at < patience_looks && burst_ - request->tendered_at < most_patience_looks) {
    tendered_.push_back(*request);
    return 0;
  }
  fill(*request);
  return 1;
}

std::size_t Messenger::fill_tenders() noexcept {
  std::size_t filled = 0;
  for (; Request* request = tendered_.pop_front(); ++filled) fill(*request);
  return filled;
}

// REQUIRES: tendered, and out of tendered_.
void Messenger::fill(Request& request) noexcept {
  Peer& peer = *request.peer;
  if (!end_move(request)) return complete(request, {});  // the peer has it
  note_unpulled(peer);
  request.state = RequestState::queued;
  const bool in_turn = peer.endpoint != nullptr && !peer.blocked && peer.outbox.empty();
  request.errand = Errand::fill;
  if (!in_turn || !send_fill(peer, request)) enqueue(peer, request, Errand::fill);
}

// False: the link takes no more.
bool Messenger::send_fill(Peer& peer, Request& request) noexcept {
  PacketHeader header{.kind = PacketKind::fill};
  header.id = request.id;
  header.message_bytes = request.message_bytes;
  header.payload_bytes = static_cast<std::uint32_t>(request.message_bytes);
  Status outcome;
  request.fn = on_payload_read;
  if (!transmit(peer, header, request.data, &request, Urgency::batch, outcome)) return false;
  request.errand = Errand::none;
  request.tendered_units = 0;  // the receiver has the credit, and hands it back
  if (outcome.code() == Code::in_progress)
    request.state = RequestState::leaving;
  else
    complete(request, {});
  return true;
}

// There are as many as the peer has offers that were accepted, and as a rule it is the first.
Request* receive_of(Peer& peer, std::uint32_t remote_id) noexcept {
  Request* request = peer.accepted.front();
  while (request != nullptr && (request->remote_id != remote_id || peer.landing_request == request))
    request = peer.accepted.next(*request);
  return request;
}

// Where a fill may land. The receive does not pull any more then, nor ask for pieces.
Request* Messenger::fill_target(Peer& peer, const PacketHeader& header) noexcept {
  if (peer.offers.find(header.id) != nullptr) return nullptr;
  Request* request = receive_of(peer, header.id);
  const bool fits = request != nullptr && !request->ending.failed() && request->moved_bytes == 0 &&
                    header.payload_bytes == header.message_bytes &&
                    header.message_bytes == request->message_bytes;
  if (!fits) return nullptr;
  using Outbox = base::IntrusiveList<Request, OutboxTag>;
  (void)end_move(*request);
  if (request->route != nullptr) note_invited(*request, burst_);
  if (Outbox::is_linked(*request)) Outbox::remove(*request);
  return request;
}

// The data of an offer that was not pulled. `adoptable`: as for handle_eager().
void Messenger::handle_fill(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload,
                            std::byte* adoptable) noexcept {
  if (!admit_whole(peer, header, payload, adoptable)) return;
  if (Unexpected* offer = peer.offers.find(header.id); offer != nullptr)
    return land_offer(*offer, payload, adoptable);
  // Matched meanwhile; or the receive has ended without it.
  if (Request* request = fill_target(peer, header); request != nullptr) {
    if (request->device != nullptr)
      write_to_device(*request, 0, payload, request->ending);
    else
      copy_bytes(request->data, payload.data(), payload.size());
    complete(*request, {});
  }
  owe(peer, payload.size());
  if (adoptable != nullptr) buffers_.give(adoptable, payload.size());
}

}  // namespace parley::transport
