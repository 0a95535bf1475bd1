#include "api/schedule/hosts.h"

#include <algorithm>
#include <unordered_map>

namespace parley::schedule {

Hosts::Hosts(const Shape& shape, std::uint32_t first) : rank_(shape.rank) {
  std::unordered_map<std::uint32_t, std::uint32_t> index;
  const auto host_of = [&](std::uint32_t rank) { return shape.hosts.empty() ? 0 : shape.hosts[rank]; };
  // Mostly a rank is on the host of the one before.
  std::uint32_t last = 0, last_index = 0;
  const auto add = [&](std::uint32_t rank) {
    const std::uint32_t host = host_of(rank);
    if (members_.empty() || host != last) {
      const auto [found, is_new] = index.try_emplace(host, size());
      if (is_new) members_.emplace_back();
      last = host;
      last_index = found->second;
    }
    members_[last_index].push_back(rank);
  };
  add(first);
  for (std::uint32_t rank = 0; rank < shape.size; ++rank)
    if (rank != first) add(rank);
  mine_ = index[host_of(rank_)];
  const std::vector<std::uint32_t>& here = members_[mine_];
  me_ = static_cast<std::uint32_t>(std::find(here.begin(), here.end(), rank_) - here.begin());
}

std::uint32_t Hosts::smallest() const noexcept {
  std::size_t least = members_.front().size();
  for (const auto& host : members_) least = std::min(least, host.size());
  return static_cast<std::uint32_t>(least);
}

std::uint32_t Hosts::largest() const noexcept {
  std::size_t most = 0;
  for (const auto& host : members_) most = std::max(most, host.size());
  return static_cast<std::uint32_t>(most);
}

Team Hosts::local() const {
  return {members_[mine_], rank_};
}

Team Hosts::across() const {
  std::vector<std::uint32_t> ranks;
  for (const auto& host : members_) ranks.push_back(host[me_]);
  return {std::move(ranks), rank_};
}

}  // namespace parley::schedule
