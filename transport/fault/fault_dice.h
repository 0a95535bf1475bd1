#pragma once

#include <cstdint>
#include <random>

#include "transport/fault/fault_plan.h"

namespace parley::transport::fault {

// Time, chance and the one cut of a FaultTransport; shared with its endpoints.
class FaultDice {
 public:
  explicit FaultDice(const FaultPlan& plan) : plan_(plan), random_(plan.seed) {}

  [[nodiscard]] const FaultPlan& plan() const noexcept { return plan_; }
  bool happens(std::uint32_t permille) noexcept { return permille != 0 && random_() % 1000 < permille; }
  // 1 to `most`
  std::uint64_t up_to(std::uint64_t most) noexcept { return 1 + random_() % (most == 0 ? 1 : most); }

  // Calls of progress() so far.
  [[nodiscard]] std::uint64_t now() const noexcept { return now_; }
  void tick() noexcept { ++now_; }

  // Counts a packet that is about to be delivered; Cut::none, or what the plan has for it.
  Cut next_packet() noexcept { return ++packets_ == plan_.cut_at_packet ? plan_.cut : Cut::none; }

 private:
  const FaultPlan plan_;
  std::mt19937_64 random_;
  std::uint64_t now_ = 0;
  std::uint64_t packets_ = 0;
};

}  // namespace parley::transport::fault
