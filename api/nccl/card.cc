#include "api/nccl/card.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "api/nccl/runtime.h"
#include "transport/base/log.h"

namespace parley::nccl {

using base::concat;
using wireup::DeviceWish;

namespace {

// "" if nothing is.
std::string reason_against_nccl(std::span<const Card> cards) {
  std::map<cuda::DeviceId, std::size_t> owners;
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    const Card& card = cards[rank];
    if (card.version == 0) return concat("rank ", rank, " has no NCCL: ", std::string_view(card.why_not));
    if (card.version != cards[0].version)
      return concat("rank 0 has NCCL ", version_text(cards[0].version), ", rank ", rank, " ",
                    version_text(card.version));
  }
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    const auto [owner, is_first] = owners.try_emplace(cards[rank].device, rank);
    if (!is_first && !(cards[rank].shares_device && cards[owner->second].shares_device))
      return concat("ranks ", owner->second, " and ", rank, " share a device");
  }
  return {};
}

bool is_against_nccl(DeviceWish wish) noexcept {
  return wish == DeviceWish::ipc || wish == DeviceWish::staged;
}
// Of which there is nothing to do without being asked.
constexpr std::size_t fewest_ranks = 2;

}  // namespace

void Wishes::add(DeviceWish wish) noexcept {
  ++ranks_;
  has_one_for_nccl_ = has_one_for_nccl_ || wish == DeviceWish::nccl;
  has_one_against_ = has_one_against_ || is_against_nccl(wish);
}

bool Wishes::want_nccl() const noexcept {
  return !has_one_against_ && (has_one_for_nccl_ || ranks_ >= fewest_ranks);
}

Choice choose(std::span<const Card> cards) {
  const Card* wants_nccl = nullptr;
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    const DeviceWish wish = cards[rank].wish;
    if (is_against_nccl(wish)) return {.why = concat("rank ", rank, " asks for ", name(wish))};
    if (wish == DeviceWish::nccl) wants_nccl = &cards[rank];
  }
  const std::string against = reason_against_nccl(cards);
  if (wants_nccl != nullptr && !against.empty())
    return {.why = against, .contradiction = concat("NCCL is asked for, but ", against)};
  if (!against.empty()) return {.why = against};
  if (wants_nccl != nullptr) return {.is_nccl = true, .why = "it is asked for"};
  if (cards.size() < fewest_ranks) return {.why = "there is one rank"};
  return {.is_nccl = true, .why = "each rank has a device of its own"};
}

}  // namespace parley::nccl
