#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/collective/history.h"
#include "api/collective/meeting.h"
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
  // is the channel's alone. `has_arena`: whether there may be memory that the others of this host can map.
  Channel(transport::Engine& engine, std::uint32_t context, Team team, const schedule::Overrides& overrides,
          bool has_arena);

  // Before the next call the ranks meet: so large a board may be given, or null, where there is no memory for
  // it. Zero: none is wanted, or it was given.
  [[nodiscard]] std::size_t wanted_board_bytes() const noexcept {
    return is_meeting_due() && !meeting_->is_supplied() ? meeting_->board_bytes() : 0;
  }
  // REQUIRES: one is wanted.
  void give_board(std::shared_ptr<std::byte> board) noexcept { meeting_->supply(std::move(board)); }

  // Fails with `exhausted`; else the request is there, and may have ended. REQUIRES: !is_full(), and no board
  // is wanted.
  transport::Posted begin(transport::Messenger& messenger, Call&& call) noexcept;
  // The same of a call that stays where it is until the request has ended. There may be none: it has ended
  // well. The lock may be let go meanwhile, where ranks share cores.
  transport::Posted begin_borrowed(transport::Messenger& messenger, const Call& call) noexcept;

  [[nodiscard]] bool is_full() const noexcept {
    return runs_.size() >= most_under_way && under_way() >= most_under_way;
  }
  [[nodiscard]] const Team& team() const noexcept { return team_; }
  // Whether nothing of its own is under way, beside the calls. Until then it must live.
  [[nodiscard]] bool is_at_rest() const noexcept { return meeting_ == nullptr || meeting_->is_idle(); }
  // The boards, once no call of this group comes any more; null: there are none.
  [[nodiscard]] std::unique_ptr<Commons> take_commons() noexcept {
    if (sharing_.commons != nullptr || meeting_ == nullptr) return std::move(sharing_.commons);
    return meeting_->take_commons();
  }
  // Which algorithm a call would take, in words.
  [[nodiscard]] std::string explain(const Question& question) const { return plans_.explain(question); }

  static constexpr std::size_t most_under_way = 64;
  // So many calls of a group go by messages before its ranks meet to use memory that all see: many groups
  // have no more.
  static constexpr int calls_before_meeting = 4;
  // For more ranks of a host it is not tried: each would map the memory of all others.
  static constexpr std::size_t most_neighbours = 64;

 private:
  template <typename Start>
  transport::Posted begin_by(const Start& start, transport::Messenger& messenger,
                             const Question& question) noexcept;
  // REQUIRES: !have_met(). Throws std::bad_alloc.
  template <typename Start>
  transport::Posted begin_unmet(const Start& start, transport::Messenger& messenger,
                                const Question& question);
  [[nodiscard]] std::size_t under_way() const noexcept;
  // All ranks count the same calls, and so meet before the same one. There is a meeting_ until they have.
  [[nodiscard]] bool is_meeting_due() const noexcept {
    return calls_ == calls_before_meeting && !meeting_->has_begun();
  }
  // Or they have nothing to meet for.
  [[nodiscard]] bool have_met() const noexcept { return calls_ > calls_before_meeting; }
  void settle_all() noexcept;
  Run& idle_run();
  Run& another_run();

  const Team team_;
  Sharing sharing_;
  const Lane lane_;
  PlanCache plans_;
  ScratchPool scratch_;
  // Counted until the ranks meet, if there is a meeting_; else as it is here.
  int calls_ = calls_before_meeting + 1;
  Run* usual_run_ = nullptr;                // runs_.front(), found without a look at the list's memory
  std::vector<std::unique_ptr<Run>> runs_;  // as many as were ever under way at once
  std::unique_ptr<Meeting> meeting_;        // null: there is nothing to meet for
  // A page, of which a call touches little, so it stands last. Runs know of it, but not when they end.
  History history_;
  static_assert(std::is_trivially_destructible_v<History>);
};

}  // namespace parley::collective
