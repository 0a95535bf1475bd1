#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/address_card.h"
#include "transport/base/deadline.h"
#include "transport/interface/transport.h"

namespace parley::wireup {

// The ways in which this rank can reach the others, best first. Whoever dials takes the first that works; the
// one who is dialled takes what comes, so both ends agree without a word.
// Thread-safety: none; the engine's lock.
class Ladder {
 public:
  // The address of a rank in a transport; an empty one: it is not there.
  using AddressOf = std::function<std::string(transport::PeerId, const rendezvous::AddressCard&)>;

  // The transport outlives this object.
  void add(transport::Transport& transport, AddressOf address_of);

  // A transport that this rank does not have, and why: an obstacle on the way to everybody.
  void lack(std::string_view transport, std::string_view why);

  // Begins to dial the rank of this card, from the top. There is at least one way.
  void dial(transport::PeerId rank, const rendezvous::AddressCard& card, base::Deadline deadline);
  // The way that was being tried is none, for this reason. Whether the next one is being tried now.
  bool try_next(transport::PeerId rank, std::string_view why);
  // Why nothing better than the present way was taken: "no shm: it is on another host".
  [[nodiscard]] const std::string& obstacles(transport::PeerId rank) const;

  void stop_accepting() noexcept;

 private:
  struct Rung {
    transport::Transport* transport;
    AddressOf address_of;
  };
  struct Climb {
    std::vector<std::string> addresses;  // by rung
    std::size_t rung = 0;
    base::Deadline deadline = base::Deadline::never();
    std::string obstacles;
  };

  static void note(std::string& obstacles, std::string_view transport, std::string_view why);

  std::vector<Rung> rungs_;
  std::map<transport::PeerId, Climb> climbs_;  // of those that were dialled
  std::string lacks_;                          // in the words of obstacles()
};

}  // namespace parley::wireup
