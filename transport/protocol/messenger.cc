#include "transport/protocol/messenger.h"

#include <algorithm>
#include <utility>

#include "transport/base/log.h"

namespace parley::transport {

using base::Code;
using base::Status;

Messenger::Messenger(const MessengerOptions& options)
    : options_(options),
      peers_(options.peer_count, options.eager_limit_bytes.value_or(default_eager_bytes)) {}

Messenger::~Messenger() {
  for (Peer& peer : peers_) {
    if (peer.landing_buffer != nullptr) buffers_.give(peer.landing_buffer, peer.landing_bytes);
    peer.endpoint = nullptr;  // its transport is gone
  }
  drop_unmatched([](const Unexpected&) { return true; });
}

void Messenger::on_writable(Endpoint& endpoint) noexcept {
  auto* peer = static_cast<Peer*>(endpoint.user);
  if (peer == nullptr) return;
  ++peer->heard;  // its host has taken something
  drive(*peer);
}

std::optional<std::uint32_t> Messenger::known_death() const noexcept {
  if (!casualty_ || peers_[casualty_->peer].reason.code() != Code::peer_died) return std::nullopt;
  return casualty_->culprit;
}

std::optional<std::uint32_t> Messenger::dead_process() const noexcept {
  if (culprit_) return culprit_;
  if (!was_aborted_) return std::nullopt;
  // Who aborts because of a death may say so before we see it ourselves.
  const auto seen = known_death();
  return seen ? seen : told_death_;
}

// Something that we did, or meant to do, with this peer has ended so.
Status Messenger::note_end(Status status, const Peer* peer) noexcept {
  if (status.code() == Code::aborted) was_aborted_ = true;
  if (status.code() == Code::peer_died && peer != nullptr && !culprit_) culprit_ = peer->culprit;
  return status;
}

const AbortRecord* Messenger::find_abort(std::uint32_t context) const noexcept {
  const auto found = aborts_.find(context);
  return found == aborts_.end() ? nullptr : &found->second;
}

Unexpected* Messenger::peek(const Pattern& pattern) noexcept {
  auto* message = static_cast<Unexpected*>(matcher_.find(pattern));
  if (message != nullptr) return message;
  if (pattern.source != any_source) {
    await_peer(pattern.source);
  } else {
    any_source_is_probed_ = true;
    if (const auto& casualty = casualty_of(pattern.context); casualty)
      (void)note_end(peers_[casualty->peer].reason, &peers_[casualty->peer]);
  }
  return nullptr;
}

void Messenger::await_peer(std::uint32_t number) noexcept {
  peers_[number].pulse.awaited = true;
  (void)note_end(peers_[number].reason, &peers_[number]);
  want_link(peers_[number]);
}

void Messenger::visit_unmatched(std::uint32_t context, const std::function<void(const Unexpected&)>& visit) {
  for (Arrival* arrival = matcher_.oldest_arrival(); arrival != nullptr;
       arrival = matcher_.next_arrival(*arrival))
    if (arrival->envelope.context == context) visit(static_cast<const Unexpected&>(*arrival));
}

bool Messenger::owes_aborts() const noexcept {
  return std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) {
    const bool may_be_told = peer.state == PeerState::expected || peer.state == PeerState::up;
    return may_be_told && !peer.abort_contexts.empty();
  });
}

void Messenger::end() noexcept {
  peers_.end_with(Code::closed);
  for (Peer& peer : peers_)
    if (peer.state == PeerState::expected) fail_peer(peer, Code::closed, peer.number);
  fail_unmet(Code::closed);
}

void Messenger::leave(std::optional<std::uint32_t> culprit) noexcept {
  fill_tenders();  // nothing follows a goodbye
  leaving_ = Leaving{culprit};
  for (Peer& peer : peers_) {
    if (peer.goodbye_wanted || peer.endpoint == nullptr || peer.number == options_.self) continue;
    peer.goodbye_wanted = true;
    peer.goodbye_culprit = culprit;
    if (!peer.blocked) drive(peer);
  }
}

bool Messenger::drained() const noexcept {
  for (const Peer& peer : peers_) {
    if (peer.dial.state == DialState::tentative) return false;  // the peer takes it for a link already
    if (peer.endpoint == nullptr) continue;
    if (!peer.outbox.empty() || !peer.streams.empty() || !peer.endpoint->drained()) return false;
    if (peer.goodbye_wanted && !peer.goodbye_sent) return false;
  }
  return true;
}

bool Messenger::is_alone() const noexcept {
  const auto is_over = [this](const Peer& peer) {
    return peer.number == options_.self || peer.state == PeerState::left || peer.state == PeerState::down;
  };
  return peers_.made() == peers_.size() && std::all_of(peers_.begin(), peers_.end(), is_over);
}

void Messenger::tell_stall(Request& request, bool may_be_helped, std::uint64_t note) noexcept {
  Peer& peer = *request.peer;
  const bool is_send = request.kind == RequestKind::send;
  peer.stall = {.kind = PacketKind::stall, .type_code = request.type_code};
  peer.stall.context = is_send ? request.envelope.context : request.pattern.context;
  peer.stall.tag = is_send     ? request.envelope.tag
                   : note == 0 ? request.pattern.tag
                               : tag_with_note(request.pattern.tag, note);
  peer.stall.message_bytes = request.capacity_bytes;
  peer.stall.id = is_send ? stall_of_send : stall_of_receive;
  if (may_be_helped) peer.stall.id |= stall_may_be_helped;
  peer.told_about = &request;
  peer.stall_wanted = unsettled_ = true;
  peer.resume_wanted = false;
  settle();
}

void Messenger::declare_deadlock(Request& request) noexcept {
  request.peer->stall.id |= stall_is_deadlock;
  request.peer->stall_wanted = true;
  if (request.peer->endpoint != nullptr && !request.peer->blocked) drive(*request.peer);
  cancel(request, Code::deadlocked);
}

std::size_t Messenger::completion_functions() noexcept {
  std::size_t count = 0;
  for (Request* request = live_.front(); request != nullptr; request = live_.next(*request))
    if (request->on_done != nullptr) ++count;
  return count;
}

std::size_t Messenger::pump() noexcept {
  std::size_t driven = look_after_tenders() + look_after_invited();
  if (awaits_device_) driven += look_after_devices();
  if (!std::exchange(yielded_, false)) return driven;
  for (Peer& peer : peers_) {
    if (!std::exchange(peer.yielded, false) || peer.blocked) continue;
    drive(peer);
    ++driven;
  }
  return driven;
}

}  // namespace parley::transport
