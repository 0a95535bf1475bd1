#pragma once

#include <cstdint>

#include "api/collective/run.h"

// Of Run, inline: a call of a few bytes looks for marks more than it does anything else.
namespace parley::collective {

// What we had called in the turn of an await.
[[gnu::always_inline]] inline std::uint64_t Run::own_call_at(const schedule::Step& step) const noexcept {
  const bool is_of_this_call = step.mark > 0;
  return is_of_this_call ? call_word(sequence_, note_) : lane_.sharing.commons->own_call(mark_of(step));
}

// Who is in a turn of this call has called the same, and who was in an earlier turn what we had called then.
[[gnu::always_inline]] inline bool Run::has_come(std::uint32_t rank, const schedule::Step& step) noexcept {
  Commons& commons = *lane_.sharing.commons;
  const std::uint64_t wanted = mark_of(step);
  if (!commons.has_reached(rank, wanted)) return false;
  if (step.for_room) commons.fetch_mark(rank, wanted + schedule::marks_per_turn);
  if (commons.is_in_step(rank, wanted, own_call_at(step))) [[likely]]
    return true;
  note_other_call(rank, step);
  return false;
}

[[gnu::always_inline]] inline bool Run::has_come(const schedule::Step& step) noexcept {
  if (step.for_lenders && !loans_.lends()) return true;
  if (step.peer != schedule::everyone) return has_come(step.peer, step);
  Commons& commons = *lane_.sharing.commons;
  const std::uint64_t wanted = mark_of(step);
  if (commons.all_have_reached(wanted)) return true;
  for (const std::uint32_t rank : lane_.team.neighbours)
    if (!has_come(rank, step)) return false;
  commons.note_all(wanted);
  return true;
}

}  // namespace parley::collective
