#pragma once

#include <cstdint>
#include <vector>

#include "api/schedule/shape.h"

namespace parley::schedule {

// The ranks that take part in one phase of an algorithm, in the order in which it numbers them, seen by one
// of them. An algorithm over a team speaks of indices in it: so a root can be index 0, and a phase can run
// within a host or between the hosts.
class Team {
 public:
  // REQUIRES: `rank` is a member.
  Team(std::vector<std::uint32_t> members, std::uint32_t rank);
  // All ranks, from `first` on, the ranks before it last. Takes no memory, however many there are.
  static Team all(const Shape& shape, std::uint32_t first = 0);

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  // The index of this rank.
  [[nodiscard]] std::uint32_t me() const noexcept { return me_; }
  [[nodiscard]] std::uint32_t rank(std::uint32_t index) const noexcept {
    return members_.empty() ? (first_ + index) % size_ : members_[index];
  }
  // `number` counted around the ring.
  [[nodiscard]] std::uint32_t index(std::uint32_t number) const noexcept { return number % size_; }
  // The rank `distance` indices further, around the ring. REQUIRES: distance <= size().
  [[nodiscard]] std::uint32_t next(std::uint32_t distance = 1) const noexcept {
    return rank((me_ + distance) % size_);
  }
  [[nodiscard]] std::uint32_t previous(std::uint32_t distance = 1) const noexcept {
    return rank((me_ + size_ - distance) % size_);
  }

 private:
  Team(std::uint32_t size, std::uint32_t first, std::uint32_t me) noexcept
      : size_(size), first_(first), me_(me) {}

  std::vector<std::uint32_t> members_;  // none: all ranks, from first_ on
  std::uint32_t size_;
  std::uint32_t first_ = 0;
  std::uint32_t me_;
};

}  // namespace parley::schedule
