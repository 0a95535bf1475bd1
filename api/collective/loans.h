#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "api/collective/commons.h"
#include "api/collective/copy_choice.h"
#include "api/collective/plan.h"
#include "transport/base/memory_ref.h"
#include "transport/interface/neighbour.h"
#include "transport/protocol/messenger.h"

namespace parley::collective {

// The callers' buffers that the ranks of a host lend each other in one run: each is read where it lies,
// instead of a copy in its rank's stage. A rank lends what all others have mapped already; what they have not
// is shown to them, and lent in a later call. Where everyone lends, large ordinary memory, too, which
// others copy out of its process (bring()).
//
// A lender that fails gives its memory back to its caller while others may be reading it: it takes its word
// back first (withdraw()), and who has read looks for that last of all.
// Thread-safety: none; the engine's lock.
class Loans {
 public:
  // The caller's two, of this rank; null: it has none that may be lent.
  struct Buffers {
    base::ConstMemoryRef input, output;
  };

  // Decides what this rank lends, of what the plan's schedules say that it may. `copies`: whether ordinary
  // memory, too, where that is asked for (Plan::roll_call). Throws std::bad_alloc. REQUIRES: ended.
  void begin(Commons& commons, const Team& team, const transport::Messenger& messenger, const Plan& plan,
             bool copies, const Buffers& own);
  // What else the others are told. REQUIRES: nothing was told yet.
  void add_timing(const CopyChoice::Timing& timing) noexcept {
    own_card_.timed_call = timing.call;
    own_card_.took_ns = timing.took_ns;
  }
  // The longest time that they have told: Commons::longest_time().
  [[nodiscard]] std::optional<std::uint32_t> slowest_ns() const noexcept {
    return commons_->longest_time(card_);
  }
  // Which card of each rank tells of it.
  void use_card(std::uint32_t card) noexcept { card_ = card; }
  void end() noexcept;
  // Nor is anything kept of the other ranks. REQUIRES: ended.
  void forget() noexcept { views_.clear(); }

  // Whether others have been shown what could be lent, and have not answered yet.
  [[nodiscard]] bool has_asked() const noexcept { return has_asked_; }
  [[nodiscard]] bool lends() const noexcept { return is_lent_[0] || is_lent_[1]; }
  [[nodiscard]] bool lends(schedule::Loan buffer) const noexcept { return is_lent_[index_of(buffer)]; }
  // Whether this rank could lend all that Plan::if_lent takes of it. REQUIRES: that was asked for.
  [[nodiscard]] bool could_lend_all() const noexcept { return (own_card_.lent & LoanCard::all_bit) != 0; }
  // Whether every rank could; if so, they do from now on. The same on all of them. REQUIRES: this was asked
  // for, nothing was read, and all have told, or this rank could not.
  [[nodiscard]] bool lend_all_if_everyone_can() noexcept;
  // Whether some of that is to be brought.
  [[nodiscard]] bool is_any_copied() const noexcept { return is_any_copied_; }
  // Tells the others, unless it was told already. REQUIRES: there is room for what this rank shows; no mark
  // of that was published yet.
  void tell() noexcept;
  // Where a piece that this rank or another one may lend lies, of so many bytes from byte `begin` on; null:
  // in its stage, or to be brought. Another one's: only after a mark that tells of it.
  [[nodiscard]] std::byte* find(std::uint32_t owner, schedule::Loan buffer, std::uint64_t begin,
                                std::uint64_t bytes) noexcept;
  // Whether another one's is to be copied out of its process, if find() has looked for it.
  [[nodiscard]] bool is_copied(std::uint32_t owner, schedule::Loan buffer) const noexcept {
    return commons_ != nullptr && owner != team_->rank && views_[owner].buffers[index_of(buffer)].is_copied;
  }
  // Whether that may come. REQUIRES: as could_lend_all().
  [[nodiscard]] bool may_bring() const noexcept { return could_lend_all() && copies_; }
  // Does so, from byte `begin` of it on. Also ok where its owner has taken it back: nothing may come of it,
  // see withdrawn_by().
  base::Status bring(std::uint32_t owner, schedule::Loan buffer, std::uint64_t begin,
                     base::MemoryRef into) noexcept;
  // Whether a rank that has lent something may wait until this one has read it: not if nobody has, as far as
  // this one can know. REQUIRES: it has read all that it will.
  [[nodiscard]] bool may_be_awaited() const noexcept;
  // A rank that has lent what cannot be found.
  [[nodiscard]] std::optional<std::uint32_t> liar() const noexcept { return liar_; }

  // What we have lent may be written from now on.
  void withdraw() noexcept;
  // A rank that has done that of what we have read.
  [[nodiscard]] std::optional<std::uint32_t> withdrawn_by() const noexcept;

 private:
  // What is known of another rank. As long as it says the same, from call to call, it is not looked up anew,
  // but where everyone lends: memory that was once seen stays where it is. It stays mapped as long.
  struct View {
    bool is_known = false;  // in this call
    bool is_kept = false;   // found as `card` says, and to be found so again
    struct Buffer {
      std::shared_ptr<const std::byte> memory;
      std::uint64_t bytes = 0;
      bool is_copied = false;
      transport::RemoteKey key;  // then
      [[nodiscard]] bool is_lent() const noexcept { return memory != nullptr || is_copied; }
    } buffers[2];
    LoanCard card;
    [[nodiscard]] bool lends() const noexcept { return buffers[0].is_lent() || buffers[1].is_lent(); }
  };
  static std::size_t index_of(schedule::Loan buffer) noexcept {
    return buffer == schedule::Loan::input ? 0 : 1;
  }
  [[nodiscard]] std::optional<transport::RemoteKey> key_of(base::ConstMemoryRef memory) noexcept;
  [[nodiscard]] bool may_copy() const noexcept;
  [[nodiscard]] std::optional<transport::RemoteKey> key_for_copies(
      base::ConstMemoryRef memory) const noexcept;
  [[nodiscard]] transport::Neighbour* neighbour(std::uint32_t rank) const noexcept {
    return neighbour_of(*messenger_, *team_, rank);
  }
  void look_at(std::uint32_t owner) noexcept;
  [[nodiscard]] View view_by(const LoanCard& card, std::uint32_t owner) noexcept;

  Commons* commons_ = nullptr;  // null: ended
  std::uint32_t card_ = 0;
  const Team* team_ = nullptr;
  const transport::Messenger* messenger_ = nullptr;
  base::ConstMemoryRef own_[2];
  // That these were to be lent of the two, and all others see them, as `own_card_` tells, and will in later
  // calls.
  std::optional<std::array<bool, 2>> kept_for_;
  bool copies_ = false;
  bool has_asked_ = false;
  std::array<bool, 2> is_lent_{};
  bool is_told_ = false;
  bool is_all_lent_ = false, is_any_copied_ = false;  // by everyone
  std::optional<std::uint32_t> liar_;
  LoanCard own_card_;
  std::vector<View> views_;  // by rank
};

}  // namespace parley::collective
