#pragma once

#include <cstddef>
#include <cstdint>

#include "api/collective/run.h"
#include "transport/base/copy_few.h"
#include "transport/base/store_choice.h"

// Of Run, inline: where what its steps name lies, and copies from there and to there.
namespace parley::collective {

[[gnu::always_inline]] inline std::byte* Run::own_or_shown(const schedule::Slice& slice,
                                                           std::uint64_t offset) const noexcept {
  const std::uint64_t at = (slice.begin + offset) * call_->question.element_bytes;
  if (!schedule::is_shared(slice.space)) return memory_[static_cast<std::size_t>(slice.space)] + at;
  const Commons& commons = *lane_.sharing.commons;
  const std::uint64_t turn = Commons::turn_of(base_mark_) + slice.turn;
  if (slice.space == schedule::Space::line) return commons.line(slice.owner, turn) + at;
  return commons.stage(slice.owner, turn, plan_->stage_set, plan_->stage_bytes) + at;
}

inline std::byte* Run::at(const schedule::Slice& slice, std::uint64_t offset) noexcept {
  if (slice.loan != schedule::Loan::none && schedule::is_shared(slice.space) && plan_->schedule.has_loans)
    if (std::byte* const memory = lent(slice, offset); memory != nullptr || is_brought(slice)) return memory;
  return own_or_shown(slice, offset);
}

// Others may read where it writes, or have written what it reads.
inline void Run::copy_for(const schedule::Step& step, std::byte* to, const std::byte* from,
                          std::size_t bytes) noexcept {
  if (step.to.space == schedule::Space::stage) return show(step.peer, to, from, bytes);
  if (device_ || to == from) [[unlikely]]
    return copy(to, from, bytes);
  if (step.from.space == schedule::Space::stage)
    return base::load_as_chosen(lane_.sharing.stores.of(step.peer), to, from, bytes);
  base::copy_few(to, from, bytes);
}

}  // namespace parley::collective
