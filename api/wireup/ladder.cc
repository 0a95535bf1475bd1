#include "api/wireup/ladder.h"

#include <utility>

#include "transport/base/log.h"

namespace parley::wireup {

void Ladder::add(transport::Transport& transport, AddressOf address_of) {
  rungs_.push_back({&transport, std::move(address_of)});
}

void Ladder::lack(std::string_view transport, std::string_view why) {
  note(lacks_, transport, why);
}

void Ladder::note(std::string& obstacles, std::string_view transport, std::string_view why) {
  obstacles += base::concat(obstacles.empty() ? "no " : "; no ", transport, ": ", why);
}

void Ladder::dial(transport::PeerId rank, const rendezvous::AddressCard& card, base::Deadline deadline) {
  Climb& climb = climbs_[rank];
  climb = {.addresses = {}, .rung = 0, .deadline = deadline, .obstacles = lacks_};
  for (const Rung& rung : rungs_) climb.addresses.push_back(rung.address_of(rank, card));
  if (climb.addresses.front().empty() && rungs_.size() > 1)
    try_next(rank, "it offers none");
  else
    rungs_.front().transport->connect(rank, climb.addresses.front(), deadline);
}

bool Ladder::try_next(transport::PeerId rank, std::string_view why) {
  const auto found = climbs_.find(rank);
  if (found == climbs_.end()) return false;
  Climb& climb = found->second;
  if (climb.rung + 1 >= rungs_.size()) return false;
  note(climb.obstacles, rungs_[climb.rung].transport->name(), why);
  const std::size_t next = ++climb.rung;
  rungs_[next].transport->connect(rank, climb.addresses[next], climb.deadline);
  return true;
}

const std::string& Ladder::obstacles(transport::PeerId rank) const {
  const auto found = climbs_.find(rank);
  return found == climbs_.end() || found->second.obstacles.empty() ? lacks_ : found->second.obstacles;
}

void Ladder::stop_accepting() noexcept {
  for (const Rung& rung : rungs_) rung.transport->stop_accepting();
}

}  // namespace parley::wireup
