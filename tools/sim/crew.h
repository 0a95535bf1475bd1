#pragma once

#include <cstddef>
#include <functional>

namespace parley::sim {

// Calls `work` for each number below `count`, on two threads where there are two cores: as many as memory has
// room for, if both look at the largest groups. The last ones first, for those are the largest. Returns when
// all are done; rethrows what the one of the lowest number threw.
void for_each_of(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace parley::sim
