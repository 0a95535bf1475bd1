// What a run shows the other ranks of the host, and waits for to be shown.
#include <chrono>
#include <new>
#include <optional>
#include <utility>

#include "api/collective/has_come.h"
#include "api/collective/run.h"
#include "transport/base/spin.h"

namespace parley::collective {

using schedule::Progress;
using schedule::Space;
using schedule::Step;
using transport::Posted;
using transport::Request;
using transport::RequestState;

void Run::enter_turns() noexcept {
  if (plan_->schedule.turns == 0 || RunList::is_linked(*this)) return;
  lane_.sharing.turns.push_back(*this);
  if (second_ != nullptr && second_->may_be_copied) lane_.sharing.copies.count(copy_subject());
}

// When they are this run's, and not before: how many the one before it takes may be known late.
void Run::take_turns() noexcept {
  const Commons::Turns turns = lane_.sharing.commons->take_turns(plan_->schedule.turns);
  first_mark_ = base_mark_ = turns.first_mark;
  loans_.use_card(turns.card);
  if (!copying_.is_heard) return;
  // Of the last call before, on all ranks: it has ended.
  told_ = std::exchange(lane_.sharing.timed, {});
  loans_.add_timing(told_);
}

// What it has lent before it is not read any more: its runs end before the next one's turn.
void Run::begin_loans(const Plan& plan) {
  copying_ = {};
  if (!plan.schedule.has_loans && plan.roll_call == nullptr) return;
  const std::uint64_t element_bytes = call_->question.element_bytes;
  if (plan.may_be_copied) copying_ = lane_.sharing.copies.next(copy_subject());
  loans_.begin(*lane_.sharing.commons, lane_.team, *messenger_, plan, copying_.way == CopyChoice::Way::kernel,
               {{memory_of(Space::input), call_->input_count * element_bytes},
                {memory_of(Space::output), call_->output_count * element_bytes}});
}

// The runs of a group use its boards one after another, in the order of their calls.
bool Run::has_turn() const noexcept {
  return lane_.sharing.turns.front() == this;
}

void Run::end_turn() noexcept {
  awaited_.clear();
  owes_ring_ = false;
  if (transport::WatcherList::is_linked(*this)) transport::WatcherList::remove(*this);
  if (!RunList::is_linked(*this)) return;
  const bool had_turn = has_turn();
  RunList::remove(*this);
  if (Run* const next = lane_.sharing.turns.front(); had_turn && next != nullptr) lane_.engine.wake(*next);
}

[[gnu::hot]] void Run::publish(const Step& step) noexcept {
  if (step.for_lenders && !loans_.may_be_awaited()) return;
  lane_.sharing.commons->publish(mark_of(step), call_word(sequence_, note_));
  owes_ring_ = true;
}

[[gnu::hot]] void Run::ring() noexcept {
  if (!owes_ring_) return;
  owes_ring_ = false;
  lane_.sharing.commons->ring(*messenger_);
}

void Run::await(std::uint32_t index) noexcept {
  const Step& step = plan_->schedule.steps[index];
  // In the roll call: who cannot lend all need not hear who else can, unless it wants to hear times.
  const bool needs_answer = loans_.could_lend_all() || copying_.is_heard;
  const bool is_answered = second_ != nullptr && step.mark > 0 && !needs_answer;
  if (is_answered || has_come(step)) return end(index);
  awaited_.push_back(index);
}

// Rank `rank` is in another call in this turn than this one, or somebody was in an earlier turn.
void Run::note_other_call(std::uint32_t rank, const Step& step) noexcept {
  const Commons& commons = *lane_.sharing.commons;
  if (const auto& stray = commons.stray()) return note_mismatch(stray->rank, stray->call, false);
  const std::uint64_t call = *commons.call_of(rank, mark_of(step));
  const bool is_as_late = call >> transport::note_bits == own_call_at(step) >> transport::note_bits;
  note_mismatch(rank, call, step.mark > 0 && is_as_late);
}

// `is_of_this_call`: it has made as many calls before.
void Run::note_mismatch(std::uint32_t rank, std::uint64_t call, bool is_of_this_call) noexcept {
  if (failure_) return;
  const transport::Peer& peer = messenger_->peer(lane_.team.processes[rank]);
  failure_ = Failure{{}, &peer, true, call & note_mask, !is_of_this_call};
}

// Of a run by messages: whether somebody is in another call of this number, on the boards.
void Run::look_at_boards() noexcept {
  Commons* const commons = lane_.sharing.commons.get();
  if (commons == nullptr) return;
  for (const std::uint32_t rank : lane_.team.neighbours) {
    const std::optional<std::uint64_t> call = commons->next_call(rank);
    const std::uint64_t number = call_word(sequence_, 0) >> transport::note_bits;
    const bool may_be_this_one = call && *call >> transport::note_bits == number;
    if (may_be_this_one && commons->waits_in(rank, sequence_)) note_mismatch(rank, *call, true);
  }
}

// Whether one that is awaited in a later turn is in another call in the first one, and comes no further.
void Run::look_at_first_turn() noexcept {
  Commons& commons = *lane_.sharing.commons;
  const std::uint64_t entered = first_mark_ + static_cast<std::uint64_t>(Progress::entered);
  const std::uint64_t own = call_word(sequence_, note_);
  visit_missing([&](std::uint32_t rank) {
    if (!commons.has_reached(rank, entered)) return;
    const std::optional<std::uint64_t> call = commons.call_of(rank, entered);
    if (call && *call != own)
      note_mismatch(rank, *call, *call >> transport::note_bits == own >> transport::note_bits);
  });
}

// Ends the steps whose marks have come. False: none.
bool Run::collect_marks() noexcept {
  std::size_t kept = 0;
  const std::size_t before = awaited_.size();
  for (std::size_t i = 0; i < awaited_.size(); ++i) {
    const std::uint32_t index = awaited_[i];
    if (has_come(plan_->schedule.steps[index]))
      end(index);
    else
      awaited_[kept++] = index;
  }
  awaited_.resize(kept);
  return kept != before;
}

// A short look, before others have their turn and what was published is rung for. False: nothing has come.
bool Run::spin_for_marks() noexcept {
  if (failure_ || !lane_.engine.has_core_per_rank()) return false;
  for (int i = 0; i < short_spins; ++i) {
    if (collect_marks()) return true;
    base::cpu_relax();
  }
  return false;
}

bool Run::look() noexcept {
  bool has_news = failure_.has_value();
  for (const std::uint32_t index : awaited_) has_news = has_news || has_come(plan_->schedule.steps[index]);
  has_news = has_news || failure_.has_value();
  if (has_news) lane_.engine.wake(*this);
  return has_news;
}

bool Run::is_missing(std::uint32_t process) const noexcept {
  bool is_missing = false;
  visit_missing(
      [&](std::uint32_t rank) { is_missing = is_missing || lane_.team.processes[rank] == process; });
  return is_missing;
}

// Who has been waited for for a second is waited for with a receive, too, which nothing answers: it tells of
// one that has left or is stopped, is looked at where a deadlock is sought, and meets what that rank sends in
// another call of this number.
void Run::probe() noexcept {
  try {
    if (probes_.empty()) probes_.resize(lane_.team.processes.size(), Part{this, schedule::no_step, nullptr});
  } catch (const std::bad_alloc&) {
    return;  // the next second
  }
  visit_missing([this](std::uint32_t rank) { probe(rank); });
}

void Run::probe(std::uint32_t rank) noexcept {
  if (probes_[rank].request != nullptr || failure_) return;
  transport::ReceiveSpec spec;
  spec.pattern = {lane_.context, lane_.team.processes[rank], sequence_};
  spec.timeout = std::chrono::nanoseconds::max();  // the collective has the deadline
  const Posted posted = messenger_->receive(spec);
  const transport::Peer* const peer = &messenger_->peer(lane_.team.processes[rank]);
  if (posted.request == nullptr) {
    failure_ = Failure{posted.status, peer};
    return;
  }
  Request& request = *posted.request;
  if (request.state == RequestState::done) {
    note_probe(request);
    return messenger_->release(request);
  }
  request.user = &probes_[rank];
  request.on_done = on_probe_done;
  probes_[rank].request = &request;
  ++parts_under_way_;
}

void Run::note_probe(const Request& request) noexcept {
  const bool has_message = request.status.ok() || request.status.code() == base::Code::truncated;
  const bool is_taken_back = request.status.code() == base::Code::cancelled;
  // Who leaves has published before all that we wait for, unless it is still missing.
  const bool has_done_its_part =
      request.status.code() == base::Code::peer_left && !is_missing(request.peer->number);
  if (!failure_ && !is_taken_back && !has_done_its_part)
    failure_ = Failure{request.status, request.peer, has_message, request.envelope.note};
}

void Run::on_probe_done(Request& request) noexcept {
  auto& own = *static_cast<Part*>(request.user);
  Run& run = *own.run;
  own.request = nullptr;
  --run.parts_under_way_;
  run.note_probe(request);
  request.released = true;
  run.lane_.engine.wake(run);
}

void Run::end_probes() noexcept {
  for (const Part& part : probes_)
    if (part.request != nullptr) (void)messenger_->cancel(*part.request, base::Code::cancelled);
}

}  // namespace parley::collective
