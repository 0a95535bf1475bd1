// A run's sends and receives.
#include <chrono>

#include "api/collective/places.h"
#include "api/collective/run.h"

namespace parley::collective {

using schedule::Step;
using schedule::StepKind;
using transport::Posted;
using transport::Request;
using transport::RequestKind;
using transport::RequestState;

namespace {
// The collective has the deadline, and ends its parts.
constexpr auto no_deadline = std::chrono::nanoseconds::max();

// What is larger, and goes to one who sends as well, is offered first where nobody can pull it: two that
// exchange begin together then, and who is late need not keep it. One way an offer would cost its round trip.
constexpr std::size_t most_unasked_bytes = 256 << 10;
}  // namespace

void Run::begin(std::uint32_t index) noexcept {
  if (index < executed_) return end(index);
  const Step& step = plan_->schedule.steps[index];
  if (step.kind == StepKind::await) return await(index);
  // What it has read was written meanwhile, by one that has failed, and whose abort comes: nobody else may
  // take what came of it for a result.
  if (plan_->passes_loans_on && step.kind != StepKind::receive && loans_.withdrawn_by()) [[unlikely]]
    return;
  if (step.kind == StepKind::publish) {
    if (second_ != nullptr) loans_.tell();  // this is the roll call
    publish(step);
    return end(index);
  }
  const Posted posted = step.kind == StepKind::send ? send(step) : receive(step);
  if (step.next_in_lane != schedule::no_step) agenda_.unblock(step.next_in_lane);
  if (posted.request == nullptr) {
    if (posted.status.ok()) return end(index);
    const transport::Peer& peer = messenger_->peer(lane_.team.processes[step.peer]);
    return fail_with({posted.status, &peer});
  }
  Request& part = *posted.request;
  if (part.state == RequestState::done) {
    note_end(index, part);
    messenger_->release(part);
    if (failure_) return look_for_failure();
    ended_.pop_back();
    return end(index);
  }
  part.user = &parts_[index];
  part.on_done = on_part_done;
  parts_[index].request = &part;
  ++parts_under_way_;
}

Posted Run::send(const Step& step) noexcept {
  transport::SendSpec spec;
  spec.destination = lane_.team.processes[step.peer];
  spec.context = lane_.context;
  spec.tag = transport::tag_with_note(sequence_, note_);
  spec.data = at(step.from);
  spec.bytes = step.from.count * call_->question.element_bytes;
  spec.synchronous = spec.bytes > most_unasked_bytes && plan_->sends_to_us[step.peer] &&
                     messenger_->peer(spec.destination).mover == nullptr;
  spec.timeout = no_deadline;
  spec.urgency = transport::Endpoint::Urgency::batch;
  if (!device_ || spec.bytes == 0) [[likely]]
    return messenger_->send(spec);
  spec.synchronous = true;
  return post(spec, at(step.from), spec.bytes, [&] { return messenger_->send(spec); });
}

Posted Run::receive(const Step& step) noexcept {
  transport::ReceiveSpec spec;
  spec.pattern = {lane_.context, lane_.team.processes[step.peer], sequence_};
  spec.data = at(step.to);
  spec.capacity_bytes = step.to.count * call_->question.element_bytes;
  spec.timeout = no_deadline;
  if (!device_ || spec.capacity_bytes == 0) [[likely]]
    return messenger_->receive(spec);
  return post(spec, spec.data, spec.capacity_bytes, [&] { return messenger_->receive(spec); });
}

// Of device memory, which the request takes over.
template <typename Spec, typename Post>
Posted Run::post(Spec& spec, std::byte* memory, std::size_t bytes, const Post& post_it) noexcept {
  spec.device = device_->begin(memory, bytes);
  if (spec.device == nullptr) return {base::Code::exhausted};
  const Posted posted = post_it();
  if (posted.request == nullptr) spec.device->release();
  return posted;
}

// It belongs to this call if its note does, and has the right size: of uneven ones notes tell no count.
void Run::note_end(std::uint32_t index, const Request& part) noexcept {
  const bool has_message = part.status.ok() || part.status.code() == base::Code::truncated;
  if (part.kind == RequestKind::receive && has_message &&
      (part.envelope.note != note_ || part.message_bytes != part.capacity_bytes)) {
    if (!failure_) failure_ = Failure{part.status, part.peer, true, part.envelope.note};
  } else if (part.status.failed()) {
    if (!failure_) failure_ = Failure{part.status, part.peer};
  } else {
    if (part.device != nullptr) [[unlikely]]
      device_->follow(*part.device);
    ended_.push_back(index);
  }
}

void Run::on_part_done(Request& part) noexcept {
  auto& own = *static_cast<Part*>(part.user);
  Run& run = *own.run;
  own.request = nullptr;
  --run.parts_under_way_;
  run.note_end(own.step, part);
  part.released = true;
  run.lane_.engine.wake(run);
}

}  // namespace parley::collective
