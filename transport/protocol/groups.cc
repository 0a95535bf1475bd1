// Contexts that belong to some processes only: opened, closed, and what that means for operations in them.
#include <algorithm>
#include <new>

#include "transport/protocol/messenger.h"

namespace parley::transport {

using base::Code;

bool Messenger::open_context(std::uint32_t context, std::span<const std::uint32_t> members) noexcept try {
  contexts_.open(context, {members.begin(), members.end()});
  OpenContext& open = *contexts_.find(context);
  for (const std::uint32_t member : open.members) {
    if (!open.casualty && counts_as_failure(peers_.reason(member)))
      open.casualty = Casualty{member, peers_[member].culprit};
  }
  // Others knew the context before us, and we did not know whom it concerns.
  if (const AbortRecord* abort = abort_record(context); abort != nullptr) tell_abort(context, abort->by);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void Messenger::close_context(std::uint32_t context) noexcept {
  const OpenContext* open = contexts_.find(context);
  if (open == nullptr) return;
  for (const std::uint32_t member : open->members) {
    Peer& peer = peers_[member];
    // Who has no link yet may wait for us there later, and hears of it as soon as it has one.
    const bool may_be_told =
        peer.state == PeerState::up ||
        (peer.state == PeerState::expected && peer.departed_contexts.size() < max_told_departures);
    // Untold, for want of memory or of room, it hears of it when it tells us that it waits
    // (PacketKind::stall).
    if (member != options_.self && may_be_told && !open->has_left(member) &&
        note(peer.departed_contexts, context))
      unsettled_ = true;
  }
  contexts_.close(context);
  drop_unmatched([&](const Unexpected& message) { return message.envelope.context == context; });
  forget_abort(context);
  settle();
}

// The peer offers or waits in a context that we have closed: it was not told, or the news are on the way.
void Messenger::remind_of_departure(Peer& peer, std::uint32_t context) noexcept {
  std::vector<std::uint32_t>& noted = peer.departed_contexts;
  if (std::find(noted.begin(), noted.end(), context) != noted.end()) return;
  if (noted.size() >= max_told_departures)
    return violate(peer, "too many operations in groups that are closed");
  if (note(noted, context)) unsettled_ = true;
  settle();
}

// What the peer sent in this context has come before; what it would have received there is for nobody.
void Messenger::handle_departed(Peer& peer, const PacketHeader& header) noexcept {
  try {
    if (!contexts_.note_departure(header.context, peer.number))
      return violate(peer, "departures from more groups than there are");
  } catch (const std::bad_alloc&) {
    return run_short(peer, "the departure from a group");
  }
  if (contexts_.find(header.context) == nullptr) return;
  for (Request* request = live_.front(); request != nullptr;) {
    Request* next = live_.next(*request);
    if (request->peer == &peer && context_of(*request) == header.context)
      (void)try_end(*request, Code::peer_left);
    request = next;
  }
  settle();
}

bool Messenger::concerns(std::uint32_t context, std::uint32_t process) const noexcept {
  const OpenContext* open = contexts_.find(context);
  return open == nullptr ? context < options_.first_group_context : open->has_member(process);
}

[[gnu::hot]] const std::optional<Casualty>& Messenger::casualty_of(std::uint32_t context) const noexcept {
  const OpenContext* open = contexts_.find(context);
  return open == nullptr ? casualty_ : open->casualty;
}

void Messenger::acknowledge_failures(std::uint32_t context) noexcept {
  OpenContext* open = contexts_.find(context);
  (open == nullptr ? casualty_ : open->casualty).reset();
  culprit_.reset();
  told_death_.reset();
}

// Every group that the peer is of has lost it.
void Messenger::note_casualty(const Peer& peer, std::uint32_t culprit) noexcept {
  const Casualty casualty{peer.number, culprit};
  if (!casualty_) casualty_ = casualty;
  for (OpenContext& open : contexts_.all_open())
    if (!open.casualty && open.has_member(peer.number)) open.casualty = casualty;
}

// Whoever hears of it tells all others before it may say goodbye: a link keeps its order, so that nobody
// takes a rank that leaves because of the abort for one that left in good order.
void Messenger::tell_abort(std::uint32_t context, std::uint32_t by) noexcept {
  const bool calls_all = by == options_.self && connect_ != nullptr;
  for (std::uint32_t number = 0; number < peers_.size(); ++number) {
    const bool may_hear = calls_all || peers_.is_made(number);
    if (!may_hear || number == options_.self || !concerns(context, number)) continue;
    Peer& peer = peers_[number];
    if (peer.endpoint != nullptr) {
      if (!note(peer.abort_contexts, context)) peer.close_wanted = true;
    } else if (calls_all && peer.state == PeerState::expected) {
      (void)note(peer.abort_contexts, context);  // untold for want of memory, it hears of it when it links
      want_link(peer);
    }
  }
  unsettled_ = true;
  settle();
}

// The record of a closed context lasts until all are told.
void Messenger::forget_abort(std::uint32_t context) noexcept {
  const auto owes_it = [&](const Peer& peer) {
    const auto& owed = peer.abort_contexts;
    return std::find(owed.begin(), owed.end(), context) != owed.end();
  };
  if (contexts_.is_closed(context) && std::none_of(peers_.begin(), peers_.end(), owes_it))
    aborts_.erase(context);
}

}  // namespace parley::transport
