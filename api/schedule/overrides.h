#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "api/schedule/operation.h"
#include "transport/base/result.h"

namespace parley::schedule {

// The algorithms that a user asked for, by operation (PARLEY_ALGO).
class Overrides {
 public:
  [[nodiscard]] std::optional<Algorithm> of(Operation operation) const noexcept {
    return chosen_[static_cast<std::size_t>(operation)];
  }
  void set(Operation operation, Algorithm algorithm) noexcept {
    chosen_[static_cast<std::size_t>(operation)] = algorithm;
  }

 private:
  std::array<std::optional<Algorithm>, operation_count> chosen_{};
};

// "all_reduce=ring,broadcast=binomial"; empty text asks for nothing. A failure names what is wrong and lists
// what exists. An algorithm must exist for its operation; whether it can do a certain call is seen at the
// call.
base::Result<Overrides> parse_overrides(std::string_view text);

}  // namespace parley::schedule
