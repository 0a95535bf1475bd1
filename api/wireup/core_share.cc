#include "api/wireup/core_share.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace parley::wireup {
namespace {

using rendezvous::AddressCard;
using Cards = std::vector<const AddressCard*>;

Cards of_same_host(const AddressCard& own, const std::vector<AddressCard>& cards) {
  Cards found;
  for (const AddressCard& card : cards)
    if (card.host_id == own.host_id) found.push_back(&card);
  return found;
}

// Those whose masks meet ours, or that of another of them.
Cards competitors(const AddressCard& own, Cards others) {
  std::set<std::uint16_t> cores(own.cores.begin(), own.cores.end());
  Cards found;
  const auto meets = [&](const AddressCard* card) {
    return std::any_of(card->cores.begin(), card->cores.end(),
                       [&](std::uint16_t core) { return cores.contains(core); });
  };
  for (bool grows = true; grows;) {
    const auto rest = std::stable_partition(others.begin(), others.end(),
                                            [&](const AddressCard* card) { return !meets(card); });
    grows = rest != others.end();
    for (auto one = rest; one != others.end(); ++one)
      cores.insert((*one)->cores.begin(), (*one)->cores.end());
    found.insert(found.end(), rest, others.end());
    others.erase(rest, others.end());
  }
  return found;
}

// Gives each rank a core of its mask, one after the other; who has one may have to take another, so that
// there is one for the next (augmenting paths).
class Seating {
 public:
  bool seat(const AddressCard* card) {
    asked_.clear();
    return find_for(card);
  }

 private:
  bool find_for(const AddressCard* card) {
    for (const std::uint16_t core : card->cores)
      if (taken_by_.try_emplace(core, card).second) return true;
    for (const std::uint16_t core : card->cores) {
      if (!asked_.insert(core).second || !find_for(taken_by_[core])) continue;
      taken_by_[core] = card;
      return true;
    }
    return false;
  }

  std::map<std::uint16_t, const AddressCard*> taken_by_;
  std::set<std::uint16_t> asked_;  // in this round
};

bool keeps_quotas(const AddressCard& own, const Cards& neighbours) {
  return std::all_of(own.quotas.begin(), own.quotas.end(), [&](const base::CpuQuota& quota) {
    const auto is_under_it = [&](const AddressCard* card) {
      return std::any_of(card->quotas.begin(), card->quotas.end(),
                         [&](const base::CpuQuota& other) { return other.group == quota.group; });
    };
    const auto ranks = std::count_if(neighbours.begin(), neighbours.end(), is_under_it);
    return 1000 * ranks <= static_cast<std::int64_t>(quota.millicores);
  });
}

}  // namespace

bool has_core_of_its_own(const AddressCard& own, const std::vector<AddressCard>& cards) {
  const Cards neighbours = of_same_host(own, cards);
  if (!keeps_quotas(own, neighbours)) return false;
  Seating seating;
  const Cards rivals = competitors(own, neighbours);
  return std::all_of(rivals.begin(), rivals.end(),
                     [&](const AddressCard* card) { return seating.seat(card); });
}

}  // namespace parley::wireup
