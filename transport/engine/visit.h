#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "transport/engine/engine.h"

// Included by engine.h.
namespace parley::transport {

// Several steps under one hold of the lock: to post operations, to wait for them, to look how they came out.
// A locked instruction waits for all stores before it, to the peer's cache as well, so that each hold that is
// spared spares more than it seems. The lock is let go while a wait() lasts, and completion functions run
// then; no other call of the engine may be made meanwhile. What it does on the messenger may let the lock go,
// too (Engine::give_core_away()). Lives within one scope of one thread.
class Engine::Visit {
 public:
  explicit Visit(Engine& engine) : engine_(engine), held_(engine) {}

  Posted send(const SendSpec& spec, bool background) { return engine_.send_held(spec, background); }
  Posted receive(const ReceiveSpec& spec, bool background) { return engine_.receive_held(spec, background); }
  // Something was begun on the messenger itself. `background`: as in send().
  void note_posted(bool background) {
    if (background) engine_.activate_background();
    engine_.wake_for_posted();
  }
  // As Engine::wait().
  bool wait(Request& request, std::chrono::nanoseconds timeout) {
    return request.state == RequestState::done || engine_.wait_held(request, timeout);
  }
  // As Engine::poll().
  std::size_t poll() { return engine_.look_once(); }
  // What is sent from here on with Urgency::batch leaves by let_leave(), which follows in this visit.
  void hold_back() noexcept { engine_.messenger_.hold_back(); }
  void let_leave() { engine_.look_at_network(); }
  [[nodiscard]] Messenger& messenger() noexcept { return engine_.messenger_; }

  // From now on until let_go(), once for each, the engine keeps `owner`, which keeps the engine. Costs no
  // atomic instruction but for the first.
  template <typename Owner>
  void keep(const std::shared_ptr<Owner>& owner) noexcept {
    if (engine_.kept_for_++ == 0) engine_.keeper_ = owner;
  }
  // Completion functions that are due run first, for nothing of the engine may be touched after this visit.
  // The result is to be dropped after it: it may be what the engine lives by.
  [[nodiscard]] std::shared_ptr<const void> let_go() {
    while (!engine_.deferred_.empty()) engine_.run_deferred_unlocked();
    return --engine_.kept_for_ == 0 ? std::move(engine_.keeper_) : nullptr;
  }

 private:
  Engine& engine_;
  const Held held_;
};

}  // namespace parley::transport
