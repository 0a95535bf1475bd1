#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/collective/history.h"
#include "api/collective/plan.h"
#include "api/collective/run.h"
#include "api/collective/scratch.h"

namespace parley::collective {

// The collectives of one group, as one rank takes part in them. All ranks begin the same ones in the same
// order; several may be under way.
//
// Thread-safety: none; the engine's lock. Cost of begin() for a call like the last one: no allocation.
class Channel {
 public:
  // `engine` and `overrides` outlive the channel; `context` has notes (MessengerOptions::noted_contexts) and
  // is the channel's alone.
  Channel(transport::Engine& engine, std::uint32_t context, Team team, const schedule::Overrides& overrides);

  // Fails with `exhausted`; else the request is there, and may have ended. REQUIRES: !is_full().
  transport::Posted begin(transport::Messenger& messenger, Call&& call) noexcept;
  // The same of a call that stays where it is until the request has ended.
  transport::Posted begin_borrowed(transport::Messenger& messenger, const Call& call) noexcept;

  [[nodiscard]] bool is_full() const noexcept { return under_way() >= most_under_way; }
  [[nodiscard]] const Team& team() const noexcept { return team_; }
  // Which algorithm a call would take, in words.
  [[nodiscard]] std::string explain(const Question& question) const { return plans_.explain(question); }

  static constexpr std::size_t most_under_way = 64;

 private:
  template <typename Start>
  transport::Posted begin_by(const Start& start, transport::Messenger& messenger,
                             const Question& question) noexcept;
  [[nodiscard]] std::size_t under_way() const noexcept;

  const Team team_;
  History history_;
  const Lane lane_;
  PlanCache plans_;
  ScratchPool scratch_;
  std::vector<std::unique_ptr<Run>> runs_;  // as many as were ever under way at once
};

}  // namespace parley::collective
