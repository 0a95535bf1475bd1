// Two ranks that wait for each other, found and named.
//
// A rank that has waited `patience` for one peer tells that peer so. A rank that has been told so by the very
// peer it waits for itself, and has waited as long, has a deadlock: neither message was sent, for both sides
// have had seconds to see it. It ends its own operation and tells the peer to do the same.
//
// A rank that may still be helped, by another thread of its program or by a completion function, or whose
// operation has a deadline of its own and so is meant to end without the peer, says so; then both sides only
// warn.
//
// A collective waits for several peers. It tells one of them, one that waits for us in something else if
// there is any: within one collective two ranks may well wait for each other, and both for a third.
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
  Request& waited = *watch.requests.front();
  const bool is_composite = waited.kind == RequestKind::composite;
  const Agent::Awaited awaited =
      is_composite ? static_cast<const Agent*>(waited.agent)->awaited() : Agent::Awaited{&waited};
  if (awaited.request == nullptr) return;
  Request& request = *awaited.request;
  if (request.peer == nullptr || request.peer->number == options_.messenger.self || !is_unmatched(request))
    return;
  Peer& peer = *request.peer;
  const bool has_settled = watch.stall_told && watch.now - *watch.stall_told >= settling;
  const bool is_another = is_composite && peer.told_about != &request;
  if (!watch.stall_told || (has_settled && is_another)) return tell_stall(watch, awaited);
  const bool is_mutual =
      has_settled && !is_another && peer.told_us.valid && watch.now - peer.told_us.since >= settling;
  if (!is_mutual || (is_composite && peer.told_us.envelope.context == waited.pattern.context)) return;
  if (!peer.told_us.may_be_helped && !watch.may_be_helped) return messenger_.declare_deadlock(request);
  if (std::exchange(watch.stall_warned, true)) return;
  PARLEY_LOG(
      warn, "p2p", "rank ", options_.messenger.self, " and rank ", peer.number,
      " have waited for each other for ", patience.count(),
      " s: a deadlock, unless another thread, a completion function or an operation's own timeout helps");
}

void Engine::tell_stall(Watch& watch, const Agent::Awaited& awaited) noexcept {
  // For this wait once and for all: a helper that has gone may have done its part a moment ago.
  if (!watch.stall_told)
    watch.may_be_helped = watch.requests.front()->gives_up || may_be_helped(awaited.functions);
  messenger_.tell_stall(*awaited.request, watch.may_be_helped, awaited.note);
  watch.stall_told = watch.now;
}

bool Engine::has_other_hands() {
  const Held held(*this);
  return may_be_helped(0);
}

// `own_functions`: of what is waited for itself. REQUIRES: the lock is held.
bool Engine::may_be_helped(std::size_t own_functions) noexcept {
  if (!deferred_.empty() || messenger_.completion_functions() > own_functions) return true;
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
