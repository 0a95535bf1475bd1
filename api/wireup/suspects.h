#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "api/wireup/rank_claim.h"

namespace parley::wireup {

// Ranks that seemed to come no more when they were looked for last. A rank that has linked to us, done its
// work and ended in good order seems so, too, until our end of the link is made and its goodbye is read: so
// only who is found absent twice in a row is. Pure. Thread-safety: none.
class Suspects {
 public:
  // Of those that a look has found, the ones that the look before it had found as well.
  std::vector<Absentee> confirm(std::vector<Absentee> found) {
    std::vector<int> before = std::move(ranks_);
    ranks_.clear();
    for (const Absentee& one : found) ranks_.push_back(one.rank);
    const auto is_new = [&](const Absentee& one) {
      return std::find(before.begin(), before.end(), one.rank) == before.end();
    };
    found.erase(std::remove_if(found.begin(), found.end(), is_new), found.end());
    return found;
  }

  // Whether the next look is to come soon.
  [[nodiscard]] bool has_any() const noexcept { return !ranks_.empty(); }

 private:
  std::vector<int> ranks_;
};

}  // namespace parley::wireup
