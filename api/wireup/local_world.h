#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "api/wireup/world.h"
#include "transport/fault/fault_plan.h"
#include "transport/inproc/inproc_hub.h"

namespace parley::wireup {

// A rank that is a thread of this process: its world, and the transport that will link it to the others.
struct LocalRank {
  std::unique_ptr<World> world;
  transport::Transport* transport = nullptr;  // owned by the world's engine
};

// Makes the ranks of a world without a socket, not linked yet. Rank r suffers plans[r].
std::vector<LocalRank> make_local_ranks(const std::vector<transport::fault::FaultPlan>& plans,
                                        std::chrono::nanoseconds timeout);

// Links one of them to all; each from a thread of its own. Throws InitError.
void link_local_rank(LocalRank& rank, const std::vector<std::string>& addresses, base::Deadline deadline);

}  // namespace parley::wireup
