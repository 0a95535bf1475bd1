#include "api/schedule/team.h"

#include <algorithm>
#include <utility>

namespace parley::schedule {

Team::Team(std::vector<std::uint32_t> members, std::uint32_t rank)
    : members_(std::move(members)),
      me_(static_cast<std::uint32_t>(std::find(members_.begin(), members_.end(), rank) - members_.begin())) {}

Team Team::all(const Shape& shape, std::uint32_t first) {
  std::vector<std::uint32_t> members(shape.size);
  for (std::uint32_t i = 0; i < shape.size; ++i) members[i] = (first + i) % shape.size;
  return {std::move(members), shape.rank};
}

}  // namespace parley::schedule
