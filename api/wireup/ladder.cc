#include "api/wireup/ladder.h"

#include <utility>

#include "transport/base/log.h"

namespace parley::wireup {

void Ladder::add(transport::Transport& transport, std::vector<std::string> addresses) {
  climbs_.resize(addresses.size());
  rungs_.push_back({&transport, std::move(addresses)});
}

void Ladder::dial(transport::PeerId rank, base::Deadline deadline) {
  climbs_[rank] = {.rung = 0, .deadline = deadline, .obstacles = {}};
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
  climb.obstacles += base::concat(climb.obstacles.empty() ? "no " : "; no ",
                                  rungs_[climb.rung].transport->name(), ": ", why);
  const Rung& next = rungs_[++climb.rung];
  next.transport->connect(rank, next.addresses[rank], climb.deadline);
  return true;
}

const std::string& Ladder::obstacles(transport::PeerId rank) const {
  return climbs_[rank].obstacles;
}

void Ladder::stop_accepting() noexcept {
  for (const Rung& rung : rungs_) rung.transport->stop_accepting();
}

}  // namespace parley::wireup
