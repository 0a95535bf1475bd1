#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "api/schedule/operation.h"
#include "api/schedule/tuning.h"
#include "transport/base/result.h"

namespace parley::schedule {

// What takes the place of the price model: the algorithms that a user asked for, by operation (PARLEY_ALGO),
// and, where none is asked for, what was measured on this machine (PARLEY_TUNING).
class Overrides {
 public:
  [[nodiscard]] std::optional<Algorithm> of(Operation operation) const noexcept {
    return chosen_[static_cast<std::size_t>(operation)];
  }
  void set(Operation operation, Algorithm algorithm) noexcept {
    chosen_[static_cast<std::size_t>(operation)] = algorithm;
  }
  // Null: nothing was measured.
  [[nodiscard]] const Tuning* tuning() const noexcept { return tuning_.get(); }
  void set_tuning(std::shared_ptr<const Tuning> tuning) noexcept { tuning_ = std::move(tuning); }

 private:
  std::array<std::optional<Algorithm>, operation_count> chosen_{};
  std::shared_ptr<const Tuning> tuning_;
};

// "all_reduce=ring,broadcast=binomial"; empty text asks for nothing. A failure names what is wrong and lists
// what exists. An algorithm must exist for its operation; whether it can do a certain call is seen at the
// call.
base::Result<Overrides> parse_overrides(std::string_view text);

}  // namespace parley::schedule
