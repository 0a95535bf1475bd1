// Two ranks that wait for each other, found and named.
//
// A rank whose only thread has waited `patience` for one peer tells that peer so. A rank that has been told
// so by the very peer it waits for itself, and has waited as long, has a deadlock: neither message was sent,
// for both sides have had seconds to see it. It ends its own operation and tells the peer to do the same.
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
  // Another thread of this rank may still do what the peer waits for.
  if (census_.living() != 1) return;
  if (!watch.stall_told) {
    messenger_.tell_stall(request);
    watch.stall_told = watch.now;
  }
  if (peer.told_us.valid && watch.now - peer.told_us.since >= settling &&
      watch.now - *watch.stall_told >= settling)
    messenger_.declare_deadlock(request);
}

}  // namespace parley::transport
