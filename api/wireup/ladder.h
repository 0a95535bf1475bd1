#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/interface/transport.h"

namespace parley::wireup {

// The ways in which this rank can reach the others, best first. Whoever dials takes the first that works; the
// one who is dialled takes what comes, so both ends agree without a word.
// Thread-safety: none; the engine's lock.
class Ladder {
 public:
  // A transport, which outlives this object, and the addresses of all ranks in it; an empty one: not there.
  void add(transport::Transport& transport, std::vector<std::string> addresses);

  // A transport that this rank does not have, and why: an obstacle on the way to everybody.
  void lack(std::string_view transport, std::string_view why);

  // Begins to dial a rank, from the top. There is at least one way.
  void dial(transport::PeerId rank, base::Deadline deadline);
  // The way that was being tried is none, for this reason. Whether the next one is being tried now.
  bool try_next(transport::PeerId rank, std::string_view why);
  // Why nothing better than the present way was taken: "no shm: it is on another host".
  [[nodiscard]] const std::string& obstacles(transport::PeerId rank) const;

  void stop_accepting() noexcept;

 private:
  struct Rung {
    transport::Transport* transport;
    std::vector<std::string> addresses;
  };
  struct Climb {
    std::size_t rung = 0;
    base::Deadline deadline = base::Deadline::never();
    std::string obstacles;
  };

  static void note(std::string& obstacles, std::string_view transport, std::string_view why);
  static bool is_offered(const Rung& rung, transport::PeerId rank);

  std::vector<Rung> rungs_;
  std::vector<Climb> climbs_;  // by rank
  std::string lacks_;          // in the words of obstacles()
};

}  // namespace parley::wireup
