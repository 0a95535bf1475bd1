// Runs a schedule step by step, as long as the other ranks come at once: a list in which every step comes
// after those it waits for can be run so if nothing in it is a message. Of small calls this is most of them,
// and neither an agenda nor a request is needed. Where a mark does not come, what is left of the schedule
// becomes a run like all others.
#include <new>

#include "api/collective/run.h"
#include "transport/base/log.h"
#include "transport/base/spin.h"

namespace parley::collective {

using base::Code;
using schedule::Step;
using schedule::StepKind;
using transport::Posted;

namespace {
// More work than that is done in pieces, between which others have their turn.
constexpr std::uint64_t most_straight_bytes = 64 << 10;
constexpr int looks_without_pause = 32;
}  // namespace

// A call that was handed over is one whose caller does not wait.
bool Run::may_run_straight(const Plan& plan) const noexcept {
  const Call& call = *call_;
  const bool is_plain =
      call_ != &kept_ && call.inputs.empty() && call.outputs.empty() &&
      (call.reduction == nullptr || (!call.reduction->prepares() && !call.reduction->finishes()));
  return plan.is_straight && is_plain &&
         plan.local_count * call.question.element_bytes <= most_straight_bytes &&
         lane_.sharing.turns.empty() && messenger_->abort_record(lane_.context) == nullptr &&
         !messenger_->casualty_of(lane_.context).has_value();
}

// False: a mark has not come, or somebody has called something else.
bool Run::run_straight(const std::shared_ptr<const Plan>& plan) noexcept {
  try {
    if (operands_.size() < plan->most_operands) operands_.resize(plan->most_operands);
    begin_loans(plan->schedule);
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (plan_ != plan) plan_ = plan;
  local_offset_ = 0;
  sequence_ = lane_.history.begin(call_->signature);
  take_turns(plan->schedule);
  state_ = State::straight;
  for (const Step& step : plan->schedule.steps) {
    if (!run_step(step)) return false;
    ++executed_;
  }
  if (loans_.is_any_withdrawn()) return false;
  loans_.end();
  ring();
  lane_.history.end(sequence_);
  call_ = nullptr;
  state_ = State::idle;
  return true;
}

bool Run::run_step(const Step& step) noexcept {
  switch (step.kind) {
    case StepKind::copy:
    case StepKind::reduce: work(step, step.to.count); return !failure_;
    case StepKind::publish: publish(step); return true;
    case StepKind::await: {
      const int looks = lane_.engine.has_core_per_rank() ? short_spins : 1;
      for (int i = 0; i < looks && !failure_; ++i) {
        if (has_come(step)) return true;
        // A pause takes some 20 ns, which most marks do not need.
        if (i >= looks_without_pause) base::cpu_relax();
      }
      return false;
    }
    case StepKind::send:
    case StepKind::receive: break;
  }
  return false;
}

// It has shown something, and there is no memory for the rest: the group's collectives are over.
Posted Run::fail_straight() noexcept {
  constexpr std::string_view why = "out of memory";
  if (!messenger_->abort_context(lane_.context, messenger_->options().self, why,
                                 transport::AbortManner::gentle))
    PARLEY_LOG(error, "collective", "out of memory for telling the others that a collective has failed");
  loans_.withdraw();
  loans_.end();
  lane_.history.end(sequence_);
  call_ = nullptr;
  state_ = State::idle;
  owes_ring_ = false;
  return {Code::aborted};
}

}  // namespace parley::collective
