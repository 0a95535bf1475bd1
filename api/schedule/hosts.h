#pragma once

#include <cstdint>
#include <vector>

#include "api/schedule/shape.h"
#include "api/schedule/team.h"

namespace parley::schedule {

// The ranks by host, seen by one of them. Hosts come in the order of their lowest ranks, the ranks of a host
// in their order; but `first` and its host come first in both.
class Hosts {
 public:
  explicit Hosts(const Shape& shape, std::uint32_t first = 0);

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(members_.size()); }
  [[nodiscard]] const std::vector<std::uint32_t>& members(std::uint32_t host) const noexcept {
    return members_[host];
  }
  // Index of this rank's host, and of this rank in it. 0 is a host's leader.
  [[nodiscard]] std::uint32_t mine() const noexcept { return mine_; }
  [[nodiscard]] std::uint32_t me() const noexcept { return me_; }
  [[nodiscard]] bool leads() const noexcept { return me_ == 0; }
  // Ranks of the smallest and of the largest host.
  [[nodiscard]] std::uint32_t smallest() const noexcept;
  [[nodiscard]] std::uint32_t largest() const noexcept;

  // The ranks of this host.
  [[nodiscard]] Team local() const;
  // The ranks that are at this rank's place in their hosts. REQUIRES: me() < smallest()
  [[nodiscard]] Team across() const;

 private:
  std::uint32_t rank_;
  std::vector<std::vector<std::uint32_t>> members_;
  std::uint32_t mine_ = 0;
  std::uint32_t me_ = 0;
};

}  // namespace parley::schedule
