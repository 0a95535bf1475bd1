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
  if (transport::AgentList::is_linked(*this)) transport::AgentList::remove(*this);
}

Posted Run::start(transport::Messenger& messenger, Call&& call,
                  const std::shared_ptr<const Plan>& plan) noexcept {
  kept_ = std::move(call);
  return start_borrowed(messenger, kept_, plan);
}

// The composite that was begun is not needed.
Posted Run::fail_to_begin() noexcept {
  transport::Request* const request = std::exchange(request_, nullptr);
  messenger_->end_composite(*request, Code::exhausted);
  messenger_->release(*request);
  drop_memory();
  return {Code::exhausted};
}

Posted Run::start_borrowed(transport::Messenger& messenger, const Call& call,
                           const std::shared_ptr<const Plan>& plan) noexcept {
  messenger_ = &messenger;
  try {
    prepare(call, plan);
  } catch (const std::bad_alloc&) {
    drop_memory();
    return {Code::exhausted};
  }
  auto* const agent = static_cast<Agent*>(this);
  transport::CompositeSpec spec{.context = lane_.context, .agent = agent, .on_interrupt = on_interrupt};
  spec.timeout = call_->timeout;
  spec.gives_up = call_->gives_up;
  request_ = messenger.begin_composite(spec);
  if (request_ == nullptr) {
    drop_memory();
    return {Code::exhausted};
  }
  if (device_) [[unlikely]] {
    request_->device = device_->begin(nullptr, 0);
    if (request_->device == nullptr) return fail_to_begin();
  }
  // Not before it is certain to begin: the other ranks count their calls, too.
  sequence_ = lane_.history.begin(call_->signature);
  state_ = State::running;
  has_told_ = false;
  transport::Request* const request = request_;
  // The look for those that have died, and for aborts, is the first thing that may fail it.
  is_interrupted_ =
      messenger.abort_record(lane_.context) != nullptr || messenger.casualty_of(lane_.context).has_value();
  advance();
  return {Code::in_progress, request};
}

void Run::prepare(const Call& call, const std::shared_ptr<const Plan>& plan) {
  call_ = &call;
  input_ = call.input;
  output_ = call.output;
  if (plan_ != plan) plan_ = plan;
  note_ = call.signature.packed();
  const std::size_t steps = plan->schedule.steps.size();
  if (parts_.size() < steps) make_room(steps);
  agenda_.begin(*plan);
  ended_.clear();
  local_offset_ = finished_ = 0;
  failure_.reset();
  has_errand_ = call.errand != nullptr;
  if (operands_.size() < plan->most_operands) operands_.resize(plan->most_operands);
  if (call.device != nullptr) [[unlikely]]
    device_.emplace(call.device);
  take_scratch(plan->schedule.scratch_count * call.question.element_bytes);
  const tensor::Reduction* const reduction = call.reduction.get();
  if (!call.inputs.empty() || !call.outputs.empty() || (reduction != nullptr && reduction->prepares()))
    prepare_staging();
}

void Run::take_scratch(std::size_t bytes) {
  if (device_) [[unlikely]] {
    scratch_memory_ = device_->take(DeviceSide::Room::scratch, bytes);
    return;
  }
  if (scratch_.bytes() < bytes) {
    scratch_pool_.give(std::move(scratch_));
    scratch_ = scratch_pool_.take(bytes);
  }
  scratch_memory_ = scratch_.data();
}

// No list of a schedule so long has to grow later.
void Run::make_room(std::size_t steps) {
  ended_.reserve(steps);
  while (parts_.size() < steps) parts_.push_back({this, static_cast<std::uint32_t>(parts_.size()), nullptr});
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
  for (bool has_time = true; has_time;) {
    if (device_ && device_->status().failed()) return fail_with({device_->status()});
    while (agenda_.has_transfer()) {
      begin(agenda_.pop_transfer());
      if (state_ != State::running) return;
    }
    if (!agenda_.has_local()) break;
    has_time = work_pieces();
  }
  if (has_errand_ && !run_errand()) return;
  if (agenda_.is_done() && close_pieces()) return close();
  const bool has_more = agenda_.has_transfer() || agenda_.has_local() || agenda_.is_done();
  if (has_more) lane_.engine.wake(*this);
}

// All is done, or told to the device; what was told last may have failed.
void Run::close() noexcept {
  if (device_ && device_->status().failed()) [[unlikely]]
    return fail_with({device_->status()});
  leave({});
}

// False: it is not told yet, or has failed.
bool Run::run_errand() noexcept {
  const Status status = call_->errand->begin(input_, output_);
  if (status.code() == Code::again) {
    lane_.engine.wake_later(*this);
  } else if (status.failed()) {
    fail_errand();
  } else {
    has_errand_ = false;
  }
  return !has_errand_;
}

// Copies and reduces what one turn is long enough for, or until a transfer may begin. False: the turn is
// over.
bool Run::work_pieces() noexcept {
  for (std::uint64_t left = piece_count();;) {
    left -= work_a_piece(left);
    if (left == 0) return false;
    if (agenda_.has_transfer() || !agenda_.has_local()) return true;
  }
}

// Of the oldest step that is not done, at most so many elements. How many.
std::uint64_t Run::work_a_piece(std::uint64_t most) noexcept {
  const std::uint32_t index = agenda_.first_local();
  const Step& step = plan_->schedule.steps[index];
  const std::uint64_t count = std::min(most, step.to.count - local_offset_);
  std::byte* const to = at(step.to, local_offset_);
  if (step.kind == StepKind::copy) {
    copy(to, at(step.from, local_offset_), count * call_->question.element_bytes);
  } else {
    for (std::uint32_t i = 0; i < step.operand_count; ++i)
      operands_[i] = at(plan_->schedule.operands[step.first_operand + i], local_offset_);
    const std::span<const void* const> operands(operands_.data(), step.operand_count);
    if (device_) [[unlikely]]
      device_->fold(to, operands, count);
    else
      call_->reduction->fold(to, operands, count);
  }
  local_offset_ += count;
  if (local_offset_ == step.to.count) {
    local_offset_ = 0;
    agenda_.pop_local();
    end(index);
  }
  return count;
}

void Run::drop_memory() noexcept {
  constexpr std::size_t most_kept_bytes = 4096;
  if (scratch_.bytes() > most_kept_bytes) scratch_pool_.give(std::move(scratch_));
  kept_.reduction.reset();
  kept_.device.reset();
  kept_.errand.reset();
  device_.reset();
  if (!std::exchange(is_staged_, false)) return;
  scratch_pool_.give(std::move(staged_input_));
  scratch_pool_.give(std::move(staged_output_));
  sources_.clear();
  targets_.clear();
  cursor_ = {};
}

// The end. What it kept is free before the request is, for that may begin another one.
void Run::leave(Status status) noexcept {
  drop_memory();
  lane_.history.end(sequence_);
  call_ = nullptr;
  is_interrupted_ = false;
  state_ = State::idle;
  if (transport::AgentList::is_linked(*this)) transport::AgentList::remove(*this);
  if (transport::Request* const request = std::exchange(request_, nullptr); request != nullptr)
    messenger_->end_composite(*request, status);
}

std::byte* Run::at(const schedule::Slice& slice, std::uint64_t offset) const noexcept {
  const std::uint64_t place = (slice.begin + offset) * call_->question.element_bytes;
  switch (slice.space) {
    case Space::input: return const_cast<std::byte*>(input_) + place;  // read only
    case Space::output: return output_ + place;
    case Space::scratch: return scratch_memory_ + place;
  }
  return nullptr;
}

}  // namespace parley::collective
