// How Messenger's receives begin, and how every request ends.
#include <algorithm>
#include <utility>

#include "transport/base/log.h"
#include "transport/protocol/messenger.h"
#include "transport/protocol/moving.h"

namespace parley::transport {

using base::Code;
using base::Status;

namespace {

// Streams wait for a peer that is gone.
constexpr auto device_look_period = std::chrono::milliseconds(10);
// How long an aborted operation may wait for the piece that is on the link right now, before the link is
// closed. Prompt: abort() promises that all who wait return within 100 ms.
constexpr std::chrono::milliseconds grace_of(AbortManner manner) noexcept {
  return manner == AbortManner::prompt ? std::chrono::milliseconds(40) : std::chrono::seconds(2);
}
}  // namespace

Posted Messenger::receive(const ReceiveSpec& spec) noexcept {
  if (abort_record(spec.pattern.context) != nullptr) return {note_end(Code::aborted, nullptr)};
  Request* request = new_request(spec);
  if (request == nullptr) return {Code::exhausted};
  if (spec.pattern.source != any_source) request->peer = &peers_[spec.pattern.source];
  if (Arrival* arrival = matcher_.post(*request); arrival != nullptr)
    take_arrival(*request, static_cast<Unexpected&>(*arrival));
  else if (request->peer == nullptr || request->peer->state != PeerState::up ||
           contexts_.has_left(spec.pattern.context, spec.pattern.source)) [[unlikely]]
    wait_without_link(*request);
  return {Code::in_progress, request};
}

// A posted receive that no one linked peer is to serve: somebody else will, or the receive ends here.
void Messenger::wait_without_link(Request& request) noexcept {
  if (const Status obstacle = receive_obstacle(request.pattern); obstacle.failed()) {
    // Messages that came before the peer went down are delivered; others will not come.
    const auto& casualty = casualty_of(request.pattern.context);
    if (request.peer == nullptr && casualty) request.peer = &peers_[casualty->peer];
    matcher_.unpost(request);
    complete(request, obstacle);
  } else if (request.peer != nullptr && request.peer->state == PeerState::expected) {
    want_link(*request.peer);  // or its death would go unnoticed
  }
}

Status Messenger::receive_obstacle(const Pattern& pattern) const noexcept {
  if (abort_record(pattern.context) != nullptr) return Code::aborted;
  if (pattern.source != any_source) {
    const Peer& peer = peers_[pattern.source];
    if (peer.state == PeerState::left || peer.state == PeerState::down) return peer.reason;
    return contexts_.has_left(pattern.context, pattern.source) ? Status(Code::peer_left) : Status();
  }
  const auto& casualty = casualty_of(pattern.context);
  return casualty ? peers_[casualty->peer].reason : Status();
}

Posted Messenger::receive_held(Unexpected& message, const ReceiveSpec& spec) noexcept {
  Request* request = new_request(spec);
  if (request == nullptr) return {Code::exhausted};
  message.held = false;
  Status obstacle;
  if (abort_record(message.envelope.context) != nullptr)
    obstacle = Code::aborted;
  else if (!stands(message))
    obstacle = message.peer->reason.failed() ? message.peer->reason : Status(Code::cancelled);
  if (obstacle.failed()) {
    request->peer = message.peer;
    drop(message);
    complete(*request, obstacle);
  } else {
    take_arrival(*request, message);
  }
  return {Code::in_progress, request};
}

Request* Messenger::begin_composite(const CompositeSpec& spec) noexcept {
  Request* request = new_request(RequestKind::composite);
  if (request == nullptr) return nullptr;
  request->state = RequestState::composed;
  request->pattern.context = request->envelope.context = spec.context;
  request->envelope.source = options_.self;
  request->agent = spec.agent;
  request->on_interrupt = spec.on_interrupt;
  request->timeout = spec.timeout;
  request->gives_up = spec.gives_up;
  return request;
}

void Messenger::complete(Request& request, Status status) noexcept {
  if (request.mover != nullptr && !end_move(request) && request.device == nullptr)
    request.ending = status = {};
  if (request.tendered_units != 0) end_tender(request);
  if (request.route != nullptr) end_route(request);
  if (request.kind == RequestKind::send && request.device != nullptr) request.device->end_reading();
  if (request.id != 0) ids_.remove(std::exchange(request.id, 0));
  using Stream = base::IntrusiveList<Request, StreamTag>;
  if (request.kind == RequestKind::receive && Stream::is_linked(request))
    Stream::remove(request);  // accepted
  finish(request, note_end(request.ending.failed() ? request.ending : status, request.peer));
}

bool Messenger::cancel(Request& request, Status reason) noexcept {
  if (request.is_bound) return false;
  const auto ended = try_end(request, reason);
  settle();
  return ended && ended->failed();
}

// Ends a request whose buffer is not in use; well if its receiver turns out to have it. Sends nothing and
// frees nothing but this request, so that loops over the live requests may call it; settle() follows. How it
// ended; nothing if the buffer is in use.
std::optional<Status> Messenger::try_end(Request& request, Status reason) noexcept {
  switch (request.state) {
    case RequestState::posted: matcher_.unpost(request); break;
    case RequestState::queued:
    case RequestState::offered:
      if (request.device != nullptr && request.mover != nullptr && !recall_from_device(request))
        return std::nullopt;
      if (end_move(request))
        withdraw(request);
      else
        reason = {};
      break;
    case RequestState::leaving:
    case RequestState::lent:
    case RequestState::streaming:
    case RequestState::moving:
    case RequestState::composed:
    case RequestState::done: return std::nullopt;
  }
  complete(request, reason);
  return reason;
}

bool note(std::vector<std::uint32_t>& ids, std::uint32_t id) noexcept {
  try {
    ids.push_back(id);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Takes a send back that the peer has not granted; its data never leave.
void Messenger::withdraw(Request& request) noexcept {
  using Outbox = base::IntrusiveList<Request, OutboxTag>;
  Peer& peer = *request.peer;
  const bool is_known = request.state == RequestState::offered || request.errand == Errand::fill;
  if (Outbox::is_linked(request)) Outbox::remove(request);
  if (is_known && peer.endpoint != nullptr) {
    // Untold for want of memory, the offer stands until it is granted, and the answer to that tells.
    if (note(peer.revoke_ids, request.id)) unsettled_ = true;
  }
}

// Does what loops over the live requests left to do: links to close, controls to send.
void Messenger::settle() noexcept {
  if (!std::exchange(unsettled_, false)) return;
  for (Peer& peer : peers_) {
    if (peer.endpoint == nullptr) continue;
    if (std::exchange(peer.close_wanted, false)) {
      close_link(peer, Farewell::giving_up);  // it still uses the buffer of an operation that has ended
    } else if (!peer.blocked) {
      drive(peer);
    }
  }
}

// Closes a link while both processes live, and tells the peer why, if a packet can still be sent.
void Messenger::close_link(Peer& peer, Farewell farewell) noexcept {
  if (peer.endpoint == nullptr) return;
  if (!peer.blocked && !peer.goodbye_sent) {
    PacketHeader header{.kind = PacketKind::goodbye};
    header.tag = static_cast<std::int64_t>(farewell);
    Status outcome;
    peer.goodbye_sent = transmit(peer, header, nullptr, nullptr, Endpoint::Urgency::now, outcome);
  }
  const bool is_ours = farewell == Farewell::giving_up;
  peer.culprit = is_ours ? options_.self : peer.number;
  peer.close_reason = is_ours ? Code::given_up : Code::protocol_violation;
  hang_up(*peer.endpoint);
}

// The peer broke the protocol: its link ends, the others go on.
void Messenger::violate(Peer& peer, const char* what) noexcept {
  PARLEY_LOG(warn, "p2p", "closing the link to ", peer.title, ": ", what);
  close_link(peer, Farewell::complaining);
}

// We cannot keep up our side of the protocol.
void Messenger::run_short(Peer& peer, const char* of_what) noexcept {
  PARLEY_LOG(warn, "p2p", "closing the link to ", peer.title, ": out of memory for ", of_what);
  close_link(peer, Farewell::giving_up);
}

void Messenger::expire(Request& request) noexcept {
  if (try_end(request, Code::timed_out)) return;
  request.ending = Code::timed_out;
  if (request.kind == RequestKind::composite) return request.on_interrupt(request);
  // The buffer is in use, and the peer goes on using the link as if nothing had happened: end the link, so
  // that the buffer is never touched after its operation has ended.
  request.peer->close_wanted = unsettled_ = true;
}

std::chrono::steady_clock::time_point Messenger::tick(std::chrono::steady_clock::time_point now) noexcept {
  auto next_expiry = std::chrono::steady_clock::time_point::max();
  for (Request* request = live_.front(); request != nullptr;) {
    Request* next = live_.next(*request);
    if (request->started.time_since_epoch().count() == 0) request->started = now;
    const auto elapsed = now - request->started;
    const auto left = request->timeout - elapsed;
    if (!request->ending.failed() && left.count() <= 0)
      expire(*request);
    else if (!request->ending.failed() && left < next_expiry - now)
      next_expiry = now + left;
    if (request->kind == RequestKind::composite && !request->ending.failed() &&
        elapsed >= std::chrono::seconds(request->seconds + 1)) {
      ++request->seconds;
      request->on_interrupt(*request);
    }
    request = next;
  }
  if (ending_) next_expiry = std::min(next_expiry, end_grace(now));
  std::erase_if(ended_movers_, [](DeviceMover* mover) { return mover->look_after_end(); });
  if (!ended_movers_.empty()) next_expiry = std::min(next_expiry, now + device_look_period);
  settle();
  look_after_awaited(now);
  return next_expiry;
}

// Closes the links that still use a buffer of what was aborted, once their grace is over. Returns when the
// next one's is.
std::chrono::steady_clock::time_point Messenger::end_grace(
    std::chrono::steady_clock::time_point now) noexcept {
  auto next_end = std::chrono::steady_clock::time_point::max();
  ending_ = false;
  for (Request* request = live_.front(); request != nullptr; request = live_.next(*request)) {
    if (request->ending.code() != Code::aborted || request->peer == nullptr) continue;
    const AbortRecord* const record = abort_record(context_of(*request));
    if (record == nullptr || now >= record->grace_ends) {  // null: the context has closed meanwhile
      request->peer->close_wanted = unsettled_ = true;
    } else {
      ending_ = true;
      next_end = std::min(next_end, record->grace_ends);
    }
  }
  return next_end;
}

// Ends a request now, or as soon as its buffer is no longer in use.
void Messenger::end_when_safe(Request& request, Status status) noexcept {
  using Stream = base::IntrusiveList<Request, StreamTag>;
  if (try_end(request, status)) return;
  if (request.kind == RequestKind::composite) {
    request.ending = status;
    return request.on_interrupt(request);
  }
  if (request.state == RequestState::streaming && !request.piece_out) {
    Stream::remove(request);
    return complete(request, status);
  }
  const bool between_pieces =
      request.state == RequestState::moving && request.peer->landing_request != &request;
  // A place that is being written is left to the answer that is about to come.
  const bool is_taken = between_pieces && request.exposure != 0 && !recall_from_device(request);
  if (between_pieces && !is_taken) {  // those that still come find no receive and are dropped
    using Outbox = base::IntrusiveList<Request, OutboxTag>;
    if (Outbox::is_linked(request)) Outbox::remove(request);
    return complete(request, status);
  }
  request.ending = status;
  ending_ = true;
}

bool Messenger::abort_context(std::uint32_t context, std::uint32_t by, std::string_view reason,
                              AbortManner manner) noexcept {
  const auto grace_ends = std::chrono::steady_clock::now() + grace_of(manner);
  try {
    AbortRecord record{by, std::string(reason.substr(0, 512)), manner, grace_ends};
    const auto [known, is_new] = aborts_.try_emplace(context, std::move(record));
    if (!is_new) {
      AbortRecord& earlier = known->second;
      if (manner == AbortManner::prompt && std::exchange(earlier.manner, manner) != manner) {
        earlier.grace_ends = std::min(earlier.grace_ends, grace_ends);
        tell_abort(context, earlier.by);
      }
      return true;
    }
  } catch (const std::bad_alloc&) {
    return false;
  }
  for (Request* request = live_.front(); request != nullptr;) {
    Request* next = live_.next(*request);
    if (context_of(*request) == context && !request->ending.failed()) end_when_safe(*request, Code::aborted);
    request = next;
  }
  if (manner == AbortManner::bereaved && !told_death_) told_death_ = by;
  drop_unmatched([&](const Unexpected& message) { return message.envelope.context == context; });
  tell_abort(context, by);
  return true;
}

// Ends everything that needs this peer. Its unmatched messages stay: they were sent in good order.
void Messenger::fail_peer(Peer& peer, Status status, std::uint32_t culprit) noexcept {
  const bool is_news = peer.reason.ok();  // else its goodbye has told, and now the link has closed
  if (is_news) {
    peer.reason = status;
    peer.culprit = culprit;
  }
  if (peer.state == PeerState::expected) end_dial(peer);
  if (peer.state != PeerState::left || peer.endpoint == nullptr) peer.state = PeerState::down;
  const bool is_failure = is_news && counts_as_failure(status);
  if (is_failure) note_casualty(peer, culprit);
  if (peer.landing_buffer != nullptr && peer.endpoint == nullptr)
    buffers_.give(std::exchange(peer.landing_buffer, nullptr), peer.landing_bytes);
  if (peer.landing_place != nullptr && peer.endpoint == nullptr)
    peer.landing_request->device->abandon(std::exchange(peer.landing_place, nullptr));
  if (peer.endpoint == nullptr) peer.landing_request = nullptr;
  peer.told_us.valid = false;
  if (peer.endpoint == nullptr)  // nobody is left to be told
    for (const std::uint32_t context : std::exchange(peer.abort_contexts, {})) forget_abort(context);

  fail_requests(peer, status);
  if (is_failure) fail_any_source(status, peer);
  // Offers of a process that is gone lead nowhere.
  while (Unexpected* offer = peer.offers.any()) {
    if (offer->held) {
      unlist_offer(*offer);
      continue;
    }
    matcher_.take(*offer);
    dispose(*offer);
  }
}

// Ends the operations that name this peer.
void Messenger::fail_requests(Peer& peer, Status status) noexcept {
  using Outbox = base::IntrusiveList<Request, OutboxTag>;
  using Stream = base::IntrusiveList<Request, StreamTag>;
  while (Request* request = peer.outbox.front()) {
    Outbox::remove(*request);
    if (request->state == RequestState::done)
      finish_errand(*request);
    else
      complete(*request, status);
  }
  for (Request* request = live_.front(); request != nullptr;) {
    Request* next = live_.next(*request);
    // While the link is up (a goodbye came) it may still read or write a buffer; on_closed() ends those.
    const bool in_use =
        request->state == RequestState::leaving || request->piece_out || peer.landing_request == request;
    if (request->peer == &peer && !(in_use && peer.endpoint != nullptr)) {
      if (request->state == RequestState::posted) matcher_.unpost(*request);
      if (Stream::is_linked(*request)) Stream::remove(*request);
      complete(*request, status);
    }
    request = next;
  }
}

// Those whose records nobody needed come no more: what waits for any source waits for them, too. One of each
// group stands for all.
void Messenger::fail_unmet(Status status) noexcept {
  const auto fail_if_unmet = [&](std::uint32_t number) {
    if (peers_.is_made(number)) return false;
    Peer& peer = peers_[number];
    note_casualty(peer, number);
    fail_any_source(status, peer);
    return true;
  };
  for (std::uint32_t number = 0; number < peers_.size() && !fail_if_unmet(number);) ++number;
  for (const OpenContext& open : contexts_.all_open())
    (void)std::any_of(open.members.begin(), open.members.end(), fail_if_unmet);
}

void Messenger::fail_any_source(Status status, Peer& peer) noexcept {
  for (Request* request = live_.front(); request != nullptr;) {
    Request* next = live_.next(*request);
    if (request->kind == RequestKind::receive && request->state == RequestState::posted &&
        request->pattern.source == any_source && concerns(request->pattern.context, peer.number)) {
      matcher_.unpost(*request);
      request->peer = &peer;
      complete(*request, status);
    } else if (request->kind == RequestKind::composite && !request->ending.failed() &&
               concerns(request->pattern.context, peer.number)) {
      request->on_interrupt(*request);
    }
    request = next;
  }
}

}  // namespace parley::transport
