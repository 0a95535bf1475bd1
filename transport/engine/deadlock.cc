// Two ranks that wait for each other, found and named.
//
// A rank that has waited `patience` for one peer tells that peer so. A rank that has been told so by the very
// peer it waits for itself, and has waited as long, has a deadlock: neither message was sent, for both sides
// have had seconds to see it. It ends its own operation and tells the peer to do the same.
//
// A rank that may still be helped, by another thread of its program or by a completion function, or whose
// operation has a deadline of its own and so is meant to end without the peer, says so; then both sides only
// warn.
#include "transport/base/log.h"
#include "transport/base/threads.h"
#include "transport/engine/engine.h"

namespace parley::transport {
namespace {

constexpr auto patience = std::chrono::seconds(10);
// What is on the wire between the two reports arrives in this time.
constexpr auto settling = std::chrono::seconds(1);

bool is_unmatched(const Request& request) noexcept {
  return request.state == RequestState::posted || request.state == RequestState::offered ||
         request.state == RequestState::queued;
}

}  // namespace

void Engine::look_for_deadlock(Watch& watch) noexcept {
  if (watch.now - watch.started < patience || watch.requests.size() != 1) return;
  // Whoever gives up after a while may then do what the peer waits for.
  if (watch.timeout != std::chrono::nanoseconds::max()) return;
  Request& request = *watch.requests.front();
  if (request.peer == nullptr || request.peer->number == options_.messenger.self || !is_unmatched(request))
    return;
  Peer& peer = *request.peer;
  if (!watch.stall_told) {
    // For this wait once and for all: a helper that has gone may have done its part a moment ago.
    watch.may_be_helped = request.gives_up || may_be_helped();
    messenger_.tell_stall(request, watch.may_be_helped);
    watch.stall_told = watch.now;
  }
  const bool is_mutual = peer.told_us.valid && watch.now - peer.told_us.since >= settling &&
                         watch.now - *watch.stall_told >= settling;
  if (!is_mutual) return;
  if (!peer.told_us.may_be_helped && !watch.may_be_helped) return messenger_.declare_deadlock(request);
  if (std::exchange(watch.stall_warned, true)) return;
  PARLEY_LOG(
      warn, "p2p", "rank ", options_.messenger.self, " and rank ", peer.number,
      " have waited for each other for ", patience.count(),
      " s: a deadlock, unless another thread, a completion function or an operation's own timeout helps");
}

bool Engine::has_other_hands() {
  const Held held(*this);
  return may_be_helped();
}

// REQUIRES: the lock is held.
bool Engine::may_be_helped() noexcept {
  if (!deferred_.empty() || messenger_.has_completion_functions()) return true;
  const auto self = std::this_thread::get_id();
  for (DeferredRun* run = deferred_runs_.front(); run != nullptr; run = deferred_runs_.next(*run))
    if (run->thread != self) return true;
  try {
    return base::count_program_threads() > 1;
  } catch (const std::exception&) {
    return true;  // out of memory: not the time to be sure
  }
}

}  // namespace parley::transport
