#include "api/schedule/team.h"

#include <algorithm>
#include <utility>

namespace parley::schedule {

Team::Team(std::vector<std::uint32_t> members, std::uint32_t rank)
    : members_(std::move(members)),
      size_(static_cast<std::uint32_t>(members_.size())),
      me_(static_cast<std::uint32_t>(std::find(members_.begin(), members_.end(), rank) - members_.begin())) {}

Team Team::all(const Shape& shape, std::uint32_t first) {
  return {shape.size, first, (shape.rank + shape.size - first) % shape.size};
}

}  // namespace parley::schedule
