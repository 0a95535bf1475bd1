#pragma once

#include <chrono>
#include <new>

#include "transport/protocol/messenger.h"

// How requests begin and most of them end, for the hot path: included by messenger.h.
namespace parley::transport {

// As Request's constructors say. nullptr: there is no memory.
template <typename What>
[[gnu::always_inline]] inline Request* Messenger::new_request(const What& what) noexcept {
  try {
    Request* request = requests_.create(what);
    request->owner = this;
    live_.push_back(*request);
    ++live_count_;
    if (request->kind == RequestKind::send) ++live_send_count_;
    return request;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// The end of a request that has no number, and of which no mover knows: of most of them.
inline void Messenger::finish(Request& request, base::Status status) noexcept {
  request.status = status;
  request.state = RequestState::done;
  base::IntrusiveList<Request, LiveTag>::remove(request);
  --live_count_;
  ++ended_count_;
  if (request.kind == RequestKind::send) {
    --live_send_count_;
    --request.peer->live_sends;
  }
  if (Peer* const peer = request.peer; peer != nullptr) {
    if (peer->told_about == &request) [[unlikely]] {
      peer->told_about = nullptr;
      peer->resume_wanted = unsettled_ = true;
    }
    // Nobody may look after it again for a long time.
    if (peer->pulse.suspected && peer->heard != peer->pulse.heard) [[unlikely]]
      clear_of_suspicion(*peer, std::chrono::steady_clock::now());
  }
  if (request.waiter != nullptr) request.waiter->unpark();
  if (request.on_done != nullptr) request.on_done(request);
  finish_errand(request);
}

// Frees a request that has ended, was released, and waits in no outbox.
inline void Messenger::finish_errand(Request& request) noexcept {
  using Outbox = base::IntrusiveList<Request, OutboxTag>;
  if (request.state != RequestState::done || !request.released || Outbox::is_linked(request)) return;
  if (request.device != nullptr) [[unlikely]]
    release_device(request);
  requests_.destroy(&request);
}

template <typename Predicate>
const Unexpected* Messenger::find_among_oldest(Predicate&& is_wanted) noexcept {
  Arrival* arrival = matcher_.oldest_arrival();
  for (int looks = 0; arrival != nullptr && looks < 8; ++looks, arrival = matcher_.next_arrival(*arrival))
    if (is_wanted(static_cast<const Unexpected&>(*arrival))) return static_cast<const Unexpected*>(arrival);
  return nullptr;
}

inline void Messenger::release(Request& request) noexcept {
  request.released = true;
  request.waiter = nullptr;
  finish_errand(request);
}

}  // namespace parley::transport
