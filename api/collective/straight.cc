// Runs a schedule step by step, as long as the other ranks come at once: a list in which every step comes
// after those it waits for can be run so if nothing in it is a message. Of small calls this is most of them,
// and neither an agenda nor a request is needed. Where a mark does not come, what is left of the schedule
// becomes a run like all others.
#include <new>

#include "api/collective/has_come.h"
#include "api/collective/places.h"
#include "api/collective/run.h"
#include "transport/base/log.h"
#include "transport/base/spin.h"

namespace parley::collective {

using base::Code;
using schedule::Slice;
using schedule::Step;
using schedule::StepKind;
using transport::Posted;

namespace {
// Most marks come while it looks the first time, or soon after. Then comes the fence that a bell costs.
constexpr int looks_before_ringing = 8;
// Looks without a pause take the line from who is about to write it; but one that takes as long as the line's
// way makes them late.
constexpr int looks_before_long_pause = 32;
constexpr int most_yields = 3;
}  // namespace

// An abort, or a death, which is what its failures are to be told by.
[[gnu::hot]] bool Run::has_bad_news() const noexcept {
  return messenger_->abort_record(lane_.context) != nullptr ||
         messenger_->casualty_of(lane_.context).has_value();
}

// A call that was handed over is one whose caller does not wait. What is staged, or finished, is work as
// well.
[[gnu::hot]] bool Run::may_run_straight(const Plan& plan) const noexcept {
  if (!plan.is_straight || call_ == &kept_ || !lane_.sharing.turns.empty() || has_bad_news()) return false;
  if (!has_extra_work_) [[likely]]
    return true;
  const std::uint64_t count = plan.local_count + call_->input_count + call_->output_count;
  return count * call_->question.element_bytes <= Plan::most_straight_bytes;
}

// False: before it began there was no memory, or others have been asked for their answer; or a mark has not
// come, somebody has called something else, has lent what cannot be found or taken back what was read. Does
// not need `plan` once it has run steps: who gives the core away lets others into the cache that it is in.
[[gnu::hot]] bool Run::run_straight(const PlanHandle& plan) noexcept {
  try {
    keep_plan(plan);
    if (has_extra_work_ && needs_staging()) [[unlikely]] {
      prepare_staging();
      while (!open_pieces()) continue;
    }
    if (plan->schedule.has_loans) {
      begin_loans(*plan);
      // The answer comes by the network, at which a run looks that waits.
      if (loans_.has_asked()) {
        loans_.end();
        return false;
      }
    }
  } catch (const std::bad_alloc&) {
    drop_memory();
    return false;
  }
  local_offset_ = 0;
  sequence_ = lane_.history.begin(call_->signature, note_);
  take_turns();
  state_ = State::straight;
  const Plan& held = *plan_;
  for (const Step& step : held.schedule.steps) {
    if (!run_step(step, held)) return false;
    ++executed_;
  }
  ring();
  if (held.schedule.has_loans) {
    if (loans_.withdrawn_by()) [[unlikely]]
      return false;
    loans_.end();
  }
  if (has_extra_work_) [[unlikely]] {
    finished_ = 0;
    while (!close_pieces()) continue;
    drop_staging();
  }
  if (RunList::is_linked(*this)) end_turn();
  lane_.history.end(sequence_);
  call_ = nullptr;
  state_ = State::idle;
  return true;
}

inline bool Run::run_step(const Step& step, const Plan& plan) noexcept {
  switch (step.kind) {
    case StepKind::copy:
      if (plan.has_large_steps) return work_at_once(step);
      copy_for(step, own_or_shown(step.to), own_or_shown(step.from),
               step.to.count * call_->question.element_bytes);
      return true;
    case StepKind::reduce: {
      if (plan.has_large_steps) return work_at_once(step);
      const Slice* const slices = &plan.schedule.operands[step.first_operand];
      for (std::uint32_t i = 0; i < step.operand_count; ++i) operands_[i] = own_or_shown(slices[i]);
      call_->reduction->fold(own_or_shown(step.to), {operands_.data(), step.operand_count}, step.to.count);
      return true;
    }
    case StepKind::publish: publish(step); return true;
    case StepKind::await: return has_come(step) || look_for(step);
    case StepKind::send:
    case StepKind::receive: break;
  }
  return false;
}

bool Run::work_at_once(const Step& step) noexcept {
  ring_before(step);
  work(step, step.to.count);
  return !failure_;
}

// Some 2 us, meanwhile it rings: those who sleep may be the ones that it waits for.
[[gnu::hot, gnu::noinline]] bool Run::look_for(const Step& step) noexcept {
  if (!lane_.engine.has_core_per_rank()) return yield_for(step);
  lane_.sharing.commons->fetch_between(step.peer, mark_of(step));
  const int looks_without_pause = lane_.sharing.is_pause_short ? 0 : looks_before_long_pause;
  for (int i = 1; i < short_spins && !failure_; ++i) {
    if (i == looks_before_ringing) ring();
    if (i >= looks_without_pause) base::cpu_relax();
    if (has_come(step)) return true;
  }
  return false;
}

// Whoever it waits for may want this core. Others of this process may begin calls meanwhile, which wait for
// their turn.
[[gnu::hot]] bool Run::yield_for(const Step& step) noexcept {
  if (!RunList::is_linked(*this)) lane_.sharing.turns.push_back(*this);
  ring();
  for (int i = 0; i < most_yields && !failure_; ++i) {
    lane_.engine.give_core_away();
    // In this order: what the dead have shown before they died has come. A run that waits by the engine ends
    // with a death whatever has come.
    const bool is_over = has_bad_news();
    if (has_come(step)) return true;
    if (is_over) return false;
  }
  return false;
}

// It has shown something, and there is no memory for the rest: the group's collectives are over.
Posted Run::fail_straight() noexcept {
  constexpr std::string_view why = "out of memory";
  if (!messenger_->abort_context(lane_.context, messenger_->options().self, why,
                                 transport::AbortManner::gentle))
    PARLEY_LOG(error, "collective", "out of memory for telling the others that a collective has failed");
  end_turn();
  lane_.history.end(sequence_);
  call_ = nullptr;
  state_ = State::idle;
  return {Code::aborted};
}

}  // namespace parley::collective
