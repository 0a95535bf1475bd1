#pragma once

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "api/wireup/roster.h"
#include "transport/protocol/messenger.h"

namespace parley::wireup {

struct World;

// What becomes of ranks to which there is no link, where ranks link on demand: a receive from any source has
// to hear of it as if there were one.
//
// A place is a set of ranks that see each other's processes: one host, one PID namespace. Each second a rank
// looks at one process of its place, another one each time. If it is gone there is a last word of it in the
// store, or it has died, and that is added to the list of deaths there. While a receive or probe from any
// source waits, a rank
//   - reads that list;
//   - links to one rank of each other place, which is how the loss of a whole host is noticed, and, unless it
//     sees it, to rank 0, which may serve the store.
// Where the store does not answer nothing is known but that a rank 0 in sight has died with it.
//
// Of the dead of other places it reads the cards, so that errors can name their processes.
//
// Invariants: (1) the thread touches neither the world nor the engine, only what it shares with this object;
// so it may outlive both, if the store is slow; (2) what it found reaches the engine through search() alone;
// (3) the engine's lock is never held while the store is asked.
class Lookout {
 public:
  // REQUIRES: the world's roster and store are known. Without a thread to be had it says so and finds
  // nothing.
  explicit Lookout(World& world);
  ~Lookout();
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;

  // From here on nothing is looked for. Returns after a second at most; the store is not used any more then,
  // unless it is slow. Idempotent. Thread-safety: safe.
  void stop() noexcept;

 private:
  struct Desk;
  using Place = std::vector<int>;
  void search(transport::Messenger& messenger) noexcept;
  bool ask(const transport::Messenger& messenger);
  void keep_in_touch(transport::Messenger& messenger) const;

  const int rank_;
  const std::chrono::nanoseconds period_;  // of searches
  const bool sees_rank_0_;                 // or is it
  const std::vector<Place> others_;        // all places but our own, or as many as are looked after
  const std::shared_ptr<Desk> desk_;
  std::thread thread_;                                   // under the desk's mutex
  std::chrono::steady_clock::time_point next_search_{};  // under the engine's lock
};

}  // namespace parley::wireup
