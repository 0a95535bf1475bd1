#include "api/wireup/ladder.h"

#include <utility>

#include "transport/base/log.h"

namespace parley::wireup {

void Ladder::add(transport::Transport& transport, std::vector<std::string> addresses) {
  climbs_.resize(addresses.size());
  rungs_.push_back({&transport, std::move(addresses)});
}

void Ladder::lack(std::string_view transport, std::string_view why) {
  note(lacks_, transport, why);
}

void Ladder::note(std::string& obstacles, std::string_view transport, std::string_view why) {
  obstacles += base::concat(obstacles.empty() ? "no " : "; no ", transport, ": ", why);
}

void Ladder::dial(transport::PeerId rank, base::Deadline deadline) {
  climbs_[rank] = {.rung = 0, .deadline = deadline, .obstacles = lacks_};
  if (const Rung& top = rungs_.front(); !is_offered(top, rank) && rungs_.size() > 1)
    try_next(rank, "it offers none");
  else
    top.transport->connect(rank, top.addresses[rank], deadline);
}

bool Ladder::is_offered(const Rung& rung, transport::PeerId rank) {
  return !rung.addresses[rank].empty();
}

bool Ladder::try_next(transport::PeerId rank, std::string_view why) {
  Climb& climb = climbs_[rank];
  if (climb.rung + 1 >= rungs_.size()) return false;
  note(climb.obstacles, rungs_[climb.rung].transport->name(), why);
  const Rung& next = rungs_[++climb.rung];
  next.transport->connect(rank, next.addresses[rank], climb.deadline);
  return true;
}

const std::string& Ladder::obstacles(transport::PeerId rank) const {
  const std::string& met = climbs_[rank].obstacles;  // none yet where we were dialled
  return met.empty() ? lacks_ : met;
}

void Ladder::stop_accepting() noexcept {
  for (const Rung& rung : rungs_) rung.transport->stop_accepting();
}

}  // namespace parley::wireup
