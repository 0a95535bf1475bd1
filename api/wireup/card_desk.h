#pragma once

#include <parley/store.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "api/wireup/roster.h"

namespace parley::wireup {

// Reads cards of ranks from the store for those who may not wait for it, as whoever holds the engine's lock.
// What is wished for while the store is asked is read together next.
//
// Invariants: (1) its thread, which starts with the first wish, touches nothing but what it shares with this
// object while it asks the store, so it may outlive both, if the store is slow; (2) nothing is delivered once
// stop() has returned; (3) every wish is followed by a delivery, unless stop() is called.
// Thread-safety: safe.
class CardDesk {
 public:
  // Called on the desk's thread; must not throw, nor wait for anything that needs this desk. The roster knows
  // the cards of these ranks, or `why` says why not.
  using Deliver = std::function<void(std::span<const int> ranks, const std::string& why)>;

  // `prefix`: of the cards' keys.
  CardDesk(std::weak_ptr<Store> store, std::string prefix, std::shared_ptr<Roster> roster, Deliver deliver);
  ~CardDesk();
  CardDesk(const CardDesk&) = delete;
  CardDesk& operator=(const CardDesk&) = delete;

  // Throws std::bad_alloc, and std::system_error when there is no thread to be had.
  void want(int rank);

  // Returns after a second at most. Idempotent. REQUIRES: no lock that a delivery takes is held.
  void stop() noexcept;

 private:
  struct State;

  const std::shared_ptr<State> state_;
  std::thread thread_;  // under the state's mutex
};

}  // namespace parley::wireup
