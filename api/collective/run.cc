#include "api/collective/run.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "api/schedule/shape.h"

namespace parley::collective {

using base::Code;
using base::Status;
using schedule::Space;
using schedule::Step;
using transport::Posted;

Run::~Run() {
  if (transport::AgentList::is_linked(*this)) transport::AgentList::remove(*this);
  if (transport::WatcherList::is_linked(*this)) transport::WatcherList::remove(*this);
  if (RunList::is_linked(*this)) RunList::remove(*this);
}

Posted Run::start(transport::Messenger& messenger, Call&& call, const PlanHandle& plan) noexcept {
  kept_ = std::move(call);
  return start_borrowed(messenger, kept_, plan);
}

// The caller's lists end with his call.
void Run::keep_lists() {
  if (call_ != &kept_) return;
  Question& question = kept_.question;
  counts_.assign(question.counts.begin(), question.counts.end());
  receive_counts_.assign(question.receive_counts.begin(), question.receive_counts.end());
  inputs_.assign(kept_.inputs.begin(), kept_.inputs.end());
  outputs_.assign(kept_.outputs.begin(), kept_.outputs.end());
  question.counts = counts_;
  question.receive_counts = receive_counts_;
  kept_.inputs = inputs_;
  kept_.outputs = outputs_;
}

// The composite that was begun is not needed.
Posted Run::fail_to_begin() noexcept {
  transport::Request* const request = std::exchange(request_, nullptr);
  messenger_->end_composite(*request, Code::exhausted);
  messenger_->release(*request);
  return give_up();
}

// What it has lent as long as it was `straight` others may be reading.
Posted Run::give_up() noexcept {
  loans_.withdraw();
  drop_memory();
  return {Code::exhausted};
}

[[gnu::hot]] Posted Run::start_borrowed(transport::Messenger& messenger, const Call& call,
                                        const PlanHandle& plan) noexcept {
  note_call(messenger, call);
  if (plan != nullptr && may_run_straight(*plan) && run_straight(plan)) return {};
  const Posted posted = begin(state_ == State::straight ? plan_ : plan);
  return posted.request == nullptr && state_ == State::straight ? fail_straight() : posted;
}

void Run::note_call(transport::Messenger& messenger, const Call& call) noexcept {
  messenger_ = &messenger;
  call_ = &call;
  memory_of(Space::input) = const_cast<std::byte*>(call.input);  // read only
  memory_of(Space::output) = call.output;
  note_ = call.signature.packed();
  ended_.clear();
  failure_.reset();
  has_errand_ = call.errand != nullptr;
  has_extra_work_ = needs_staging() || finishes();
  executed_ = 0;
  first_mark_ = 0;
}

Posted Run::begin(const PlanHandle& plan) noexcept {
  transport::Messenger& messenger = *messenger_;
  try {
    if (plan != nullptr) [[likely]]
      prepare(plan);
    else
      keep_lists();
  } catch (const std::bad_alloc&) {
    return give_up();
  }
  auto* const agent = static_cast<Agent*>(this);
  transport::CompositeSpec spec{.context = lane_.context, .agent = agent, .on_interrupt = on_interrupt};
  spec.timeout = call_->timeout;
  spec.gives_up = call_->gives_up;
  request_ = messenger.begin_composite(spec);
  if (request_ == nullptr) return give_up();
  if (device_) [[unlikely]] {
    request_->device = device_->begin(nullptr, 0);
    if (request_->device == nullptr) return fail_to_begin();
  }
  // Not before it is certain to begin: the other ranks count their calls, too.
  if (state_ != State::straight)
    sequence_ = call_->number ? *call_->number : lane_.history.begin(call_->signature, note_);
  if (plan != nullptr) enter_turns();
  state_ = plan != nullptr ? State::running : State::undecided;
  if (plan == nullptr) [[unlikely]]
    lane_.sharing.undecided.push_back(*this);
  has_told_ = false;
  transport::Request* const request = request_;
  // The look for those that have died, and for aborts, is the first thing that may fail it.
  is_interrupted_ = has_bad_news();
  advance();
  return {Code::in_progress, request};
}

void Run::settle(const PlanHandle& plan) noexcept {
  RunList::remove(*this);
  state_ = State::running;
  try {
    if (plan == nullptr) throw std::bad_alloc();
    prepare(plan);
    enter_turns();
    lane_.engine.wake(*this);
  } catch (const std::bad_alloc&) {
    fail_with({Code::exhausted, &messenger_->peer(messenger_->options().self)});
    lane_.engine.wake(*this);
  }
}

void Run::prepare(const PlanHandle& plan) {
  const Call& call = *call_;
  if (plan->roll_call == nullptr) [[likely]] {
    keep_plan(plan);
  } else {
    make_room(*plan);
    if (plan->if_lent != nullptr) make_room(*plan->if_lent);
    keep_plan(plan->roll_call);
    second_ = plan;
  }
  agenda_.begin(*plan_);
  local_offset_ = finished_ = 0;
  if (call.device != nullptr) [[unlikely]]
    device_.emplace(call.device);
  take_scratch(plan->schedule.scratch_count * call.question.element_bytes);
  // As a straight run it may have done so.
  if (needs_staging() && !is_staged_) prepare_staging();
  if (state_ != State::straight) begin_loans(*plan);
  if (second_ != nullptr && loans_.may_bring() && plan->if_lent->most_operands > 1)
    brought_ =
        scratch_pool_.take((plan->if_lent->most_operands - 1) * piece_count() * call.question.element_bytes);
}

void Run::take_scratch(std::size_t bytes) {
  if (device_) [[unlikely]] {
    memory_of(Space::scratch) = device_->take(DeviceSide::Room::scratch, bytes);
    return;
  }
  if (scratch_.bytes() < bytes) {
    scratch_pool_.give(std::move(scratch_));
    scratch_ = scratch_pool_.take(bytes);
  }
  memory_of(Space::scratch) = scratch_.data();
}

void Run::make_more_room(const Plan& plan) {
  if (operands_.size() < plan.most_operands) operands_.resize(plan.most_operands);
  const std::size_t steps = plan.step_count;
  if (room_ >= steps) return;
  agenda_.make_room(plan);
  ended_.reserve(steps);
  awaited_.reserve(steps);
  while (parts_.size() < steps) parts_.push_back({this, static_cast<std::uint32_t>(parts_.size()), nullptr});
  room_ = steps;
}

// All choose the same: a rank that could not lend all has told the others so.
void Run::begin_second_part() {
  base_mark_ += Commons::first_mark_of(plan_->schedule.turns);
  const PlanHandle plan = std::exchange(second_, nullptr);
  const bool is_lent = loans_.lend_all_if_everyone_can();
  plan_ = is_lent ? plan->if_lent : plan;
  if (copying_.is_heard) [[unlikely]]
    hear_times(is_lent);
  lane_.sharing.commons->take_further_turns(plan_->schedule.turns);
  agenda_.begin(*plan_);
}

// Now all of them begin with the second part.
void Run::hear_times(bool is_lent) noexcept {
  if (const auto slowest = loans_.slowest_ns()) lane_.sharing.copies.note(told_, *slowest);
  const bool goes_as_wanted = copying_.way == CopyChoice::Way::kernel ? loans_.is_any_copied() : !is_lent;
  copying_.is_timed = copying_.is_timed && goes_as_wanted;
  if (copying_.is_timed) second_began_ = std::chrono::steady_clock::now();
}

// For the others to hear in a later call.
void Run::note_time() noexcept {
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - second_began_;
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  lane_.sharing.timed = {copy_subject(), copying_, static_cast<std::uint32_t>(sequence_),
                         static_cast<std::uint32_t>(std::min<std::int64_t>(took.count(), most))};
}

// A step has ended.
void Run::end(std::uint32_t index) noexcept {
  agenda_.end_step();
  const schedule::Schedule& schedule = plan_->schedule;
  const Step& step = schedule.steps[index];
  for (std::uint32_t i = 0; i < step.successor_count; ++i)
    agenda_.unblock(schedule.successors[step.first_successor + i]);
}

void Run::advance() noexcept {
  for (const std::uint32_t index : ended_) end(index);
  ended_.clear();
  if (is_interrupted_ || failure_) look_for_failure();
  if (state_ == State::running) go_on();
  if (state_ == State::failing && parts_under_way_ == 0) leave(Code::aborted);
}

// Begins what can begin, and works until nothing is left to do or others shall have their turn.
void Run::go_on() noexcept {
  if (!sources_.empty() && !open_pieces()) return lane_.engine.wake(*this);
  if (plan_->schedule.turns != 0) {
    if (!has_turn()) return;
    if (first_mark_ == 0) take_turns();
  }
  for (bool has_time = true; has_time;) {
    if (device_ && device_->status().failed()) return fail_with({device_->status()});
    while (agenda_.has_transfer()) {
      begin(agenda_.pop_transfer());
      if (state_ != State::running) return;
    }
    if (!awaited_.empty() && collect_marks()) continue;
    if (failure_) [[unlikely]]
      return look_for_failure();
    if (agenda_.has_local())
      has_time = work_pieces();
    else if (second_ != nullptr && agenda_.is_done())
      begin_second_part();
    else if (awaited_.empty() || !spin_for_marks())
      break;
  }
  ring();
  if (failure_) [[unlikely]]
    return look_for_failure();
  if (has_errand_ && !run_errand()) return;
  if (agenda_.is_done() && close_pieces()) return close();
  const bool has_more = agenda_.has_transfer() || agenda_.has_local() || agenda_.is_done();
  if (has_more)
    lane_.engine.wake(*this);
  else if (!awaited_.empty())
    lane_.engine.watch(*this);
}

// All is done, or told to the device; what was told last may have failed.
void Run::close() noexcept {
  if (device_ && device_->status().failed()) [[unlikely]]
    return fail_with({device_->status()});
  if (!probes_.empty()) [[unlikely]]
    end_probes();
  // What it has read was written meanwhile, by one that has failed, and whose abort comes.
  if (loans_.withdrawn_by()) [[unlikely]]
    return;
  if (parts_under_way_ != 0) return;
  if (copying_.is_timed) [[unlikely]]
    note_time();
  leave({});
}

// False: it is not told yet, or has failed.
bool Run::run_errand() noexcept {
  const Status status = call_->errand->begin(memory_of(Space::input), memory_of(Space::output));
  if (status.code() == Code::again) {
    lane_.engine.wake_later(*this);
  } else if (status.failed()) {
    fail_errand();
  } else {
    has_errand_ = false;
  }
  return !has_errand_;
}

void Run::drop_memory() noexcept {
  constexpr std::size_t most_kept_bytes = 4096;
  if (scratch_.bytes() > most_kept_bytes) scratch_pool_.give(std::move(scratch_));
  scratch_pool_.give(std::move(brought_));
  kept_.reduction.reset();
  kept_.device.reset();
  kept_.errand.reset();
  device_.reset();
  loans_.end();
  copying_ = {};
  second_ = nullptr;
  inputs_.clear();
  outputs_.clear();
  drop_staging();
}

void Run::drop_staging() noexcept {
  if (!std::exchange(is_staged_, false)) return;
  scratch_pool_.give(std::move(staged_input_));
  scratch_pool_.give(std::move(staged_output_));
  sources_.clear();
  targets_.clear();
  cursor_ = {};
}

// The end. What it kept is free before the request is, for that may begin another one.
void Run::leave(Status status) noexcept {
  if (status.failed()) loans_.withdraw();
  drop_memory();
  if (status.failed()) loans_.forget();  // of a dead rank's memory, for one
  lane_.history.end(sequence_);
  end_turn();
  call_ = nullptr;
  is_interrupted_ = false;
  state_ = State::idle;
  if (transport::AgentList::is_linked(*this)) transport::AgentList::remove(*this);
  if (transport::Request* const request = std::exchange(request_, nullptr); request != nullptr)
    messenger_->end_composite(*request, status);
}

}  // namespace parley::collective
