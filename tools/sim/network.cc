#include "tools/sim/network.h"

namespace parley::sim {

std::vector<std::uint32_t> Network::host_of_each() const {
  std::vector<std::uint32_t> hosts;
  if (this->hosts() == 1) return hosts;
  hosts.reserve(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) hosts.push_back(host(rank));
  return hosts;
}

}  // namespace parley::sim
