#include "api/collective/run.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "api/schedule/shape.h"

namespace parley::collective {

using base::Code;
using base::Status;
using schedule::Space;
using schedule::Step;
using schedule::StepKind;
using transport::Posted;

Run::~Run() {
  if (base::IntrusiveList<Agent, transport::AgentTag>::is_linked(*this))
    base::IntrusiveList<Agent, transport::AgentTag>::remove(*this);
}

Posted Run::start(transport::Messenger& messenger, Call&& call,
                  const std::shared_ptr<const Plan>& plan) noexcept {
  messenger_ = &messenger;
  try {
    prepare(std::move(call), plan);
  } catch (const std::bad_alloc&) {
    drop_memory();
    return {Code::exhausted};
  }
  auto* const agent = static_cast<Agent*>(this);
  transport::CompositeSpec spec{.context = lane_.context, .user = agent, .on_interrupt = on_interrupt};
  spec.timeout = call_.timeout;
  spec.gives_up = call_.gives_up;
  request_ = messenger.begin_composite(spec);
  if (request_ == nullptr) {
    drop_memory();
    return {Code::exhausted};
  }
  // Not before it is certain to begin: the other ranks count their calls, too.
  sequence_ = lane_.history.begin(call_.signature);
  state_ = State::running;
  has_told_ = false;
  transport::Request* const request = request_;
  // The look for those that have died, and for aborts, is the first thing that may fail it.
  is_interrupted_ =
      messenger.abort_record(lane_.context) != nullptr || messenger.casualty_of(lane_.context).has_value();
  advance();
  return {Code::in_progress, request};
}

void Run::prepare(Call&& call, const std::shared_ptr<const Plan>& plan) {
  call_ = std::move(call);
  if (plan_ != plan) plan_ = plan;
  note_ = call_.signature.packed();
  const std::size_t steps = plan->schedule.steps.size();
  if (parts_.size() < steps) make_room(steps);
  ended_.clear();
  blockers_ = plan->blockers;
  ready_ = plan->first_transfers;
  local_ = plan->first_local;
  local_done_ = local_offset_ = finished_ = 0;
  steps_left_ = steps;
  failure_.reset();
  if (operands_.size() < plan->most_operands) operands_.resize(plan->most_operands);
  scratch_ = scratch_pool_.take(plan->schedule.scratch_count * call_.question.element_bytes);
  const tensor::Reduction* const reduction = call_.reduction.get();
  if (!call_.inputs.empty() || !call_.outputs.empty() || (reduction != nullptr && reduction->prepares()))
    prepare_staging();
}

// No list of a schedule so long has to grow later.
void Run::make_room(std::size_t steps) {
  ended_.reserve(steps);
  ready_.reserve(steps);
  local_.reserve(steps);
  while (parts_.size() < steps) parts_.push_back({this, static_cast<std::uint32_t>(parts_.size()), nullptr});
}

void Run::unblock(std::uint32_t index) noexcept {
  if (--blockers_[index] != 0) return;
  (is_transfer(plan_->schedule.steps[index]) ? ready_ : local_).push_back(index);
}

// A step has ended.
void Run::end(std::uint32_t index) noexcept {
  --steps_left_;
  const schedule::Schedule& schedule = plan_->schedule;
  const Step& step = schedule.steps[index];
  for (std::uint32_t i = 0; i < step.successor_count; ++i)
    unblock(schedule.successors[step.first_successor + i]);
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
  for (bool has_time = true; has_time;) {
    while (!ready_.empty()) {
      const std::uint32_t index = ready_.back();
      ready_.pop_back();
      begin(index);
      if (state_ != State::running) return;
    }
    if (local_done_ == local_.size()) break;
    has_time = work_pieces();
  }
  if (steps_left_ == 0 && close_pieces()) return leave({});
  const bool has_more = !ready_.empty() || local_done_ != local_.size() || steps_left_ == 0;
  if (has_more) lane_.engine.wake(*this);
}

// Copies and reduces what one turn is long enough for, or until a transfer may begin. False: the turn is
// over.
bool Run::work_pieces() noexcept {
  for (std::uint64_t left = piece_count();;) {
    left -= work_a_piece(left);
    if (left == 0) return false;
    if (!ready_.empty() || local_done_ == local_.size()) return true;
  }
}

// Of the oldest step that is not done, at most so many elements. How many.
std::uint64_t Run::work_a_piece(std::uint64_t most) noexcept {
  const std::uint32_t index = local_[local_done_];
  const Step& step = plan_->schedule.steps[index];
  const std::uint64_t count = std::min(most, step.to.count - local_offset_);
  std::byte* const to = at(step.to, local_offset_);
  if (step.kind == StepKind::copy) {
    std::memcpy(to, at(step.from, local_offset_), count * call_.question.element_bytes);
  } else {
    for (std::uint32_t i = 0; i < step.operand_count; ++i)
      operands_[i] = at(plan_->schedule.operands[step.first_operand + i], local_offset_);
    call_.reduction->fold(to, {operands_.data(), step.operand_count}, count);
  }
  local_offset_ += count;
  if (local_offset_ == step.to.count) {
    local_offset_ = 0;
    ++local_done_;
    end(index);
  }
  return count;
}

void Run::drop_memory() noexcept {
  for (ScratchPool::Memory* const memory : {&scratch_, &staged_input_, &staged_output_})
    if (memory->data() != nullptr) scratch_pool_.give(std::exchange(*memory, {}));
  sources_.clear();
  targets_.clear();
  cursor_ = {};
  call_.reduction.reset();
}

// The end. What it kept is free before the request is, for that may begin another one.
void Run::leave(Status status) noexcept {
  drop_memory();
  lane_.history.end(sequence_);
  is_interrupted_ = false;
  state_ = State::idle;
  using Agents = base::IntrusiveList<Agent, transport::AgentTag>;
  if (Agents::is_linked(*this)) Agents::remove(*this);
  if (transport::Request* const request = std::exchange(request_, nullptr); request != nullptr)
    messenger_->end_composite(*request, status);
}

std::byte* Run::at(const schedule::Slice& slice, std::uint64_t offset) const noexcept {
  const std::uint64_t place = (slice.begin + offset) * call_.question.element_bytes;
  switch (slice.space) {
    case Space::input: return const_cast<std::byte*>(call_.input) + place;  // read only
    case Space::output: return call_.output + place;
    case Space::scratch: return scratch_.data() + place;
  }
  return nullptr;
}

}  // namespace parley::collective
