#include "api/schedule/builder.h"

#include <algorithm>
#include <cassert>

#include "api/schedule/rank_blocks.h"

namespace parley::schedule {
namespace {

std::vector<std::uint32_t> sharers_of(const Shape& shape) {
  std::vector<std::uint32_t> sharers;
  if (shape.stage_count == 0) return sharers;
  for (std::uint32_t rank = 0; rank < shape.size; ++rank)
    if (rank != shape.rank && (shape.hosts.empty() || shape.hosts[rank] == shape.hosts[shape.rank]))
      sharers.push_back(rank);
  return sharers;
}

}  // namespace

Builder::Builder(Operation operation, const Shape& shape)
    : rank_(shape.rank),
      size_(shape.size),
      line_turns_(shape.line_turns),
      stage_turns_(shape.stage_turns),
      sharers_(sharers_of(shape)),
      in_place_(shape.in_place),
      has_loans_(shape.loan_count != 0 && largest_block(shape) >= shape.loan_count),
      layout_(in_place_layout(operation, shape)),
      input_count_(schedule::input_count(operation, shape)),
      output_count_(schedule::output_count(operation, shape)) {}

Slice Builder::scratch(std::uint64_t count) {
  const std::uint64_t begin = schedule_.scratch_count;
  schedule_.scratch_count += count;
  return {Space::scratch, begin, count};
}

Builder::Place Builder::place(const Slice& slice) const noexcept {
  if (is_shared(slice.space)) {
    const std::size_t first = slice.space == Space::line ? 3 : 5;
    return {first + slice.turn % 2, slice.begin};
  }
  if (!in_place_ || slice.space == Space::scratch)
    return {static_cast<std::size_t>(slice.space), slice.begin};
  const std::uint64_t origin = slice.space == Space::input ? layout_.input_begin : layout_.output_begin;
  return {static_cast<std::size_t>(Space::output), origin + slice.begin};
}

std::uint32_t Builder::add(const Step& step) {
  schedule_.steps.push_back(step);
  return static_cast<std::uint32_t>(schedule_.steps.size() - 1);
}

// Of others' memory only their marks tell when it can be read.
void Builder::reads(std::uint32_t step, const Slice& slice) {
  if (is_shared(slice.space) && slice.owner != rank_) {
    shared_.push_back(step);
    return waits_for_peers(slice.owner);
  }
  const Place at = place(slice);
  hazards_[at.buffer].read(at.begin, at.begin + slice.count, step, before_);
}

void Builder::writes(std::uint32_t step, const Slice& slice) {
  assert(slice.space != Space::input);
  assert(!is_shared(slice.space) || slice.owner == rank_);
  if (is_shared(slice.space)) {
    shared_.push_back(step);
    waits_for_peers(everyone);
  }
  const Place at = place(slice);
  hazards_[at.buffer].write(at.begin, at.begin + slice.count, step, before_);
}

void Builder::waits_for_peers(std::uint32_t peer) {
  if (awaits_.empty()) return;
  if (peer != everyone) {
    if (awaits_[peer] != no_step) before_.push_back(awaits_[peer]);
    return;
  }
  for (const std::uint32_t await : awaits_)
    if (await != no_step) before_.push_back(await);
}

void Builder::settle(std::uint32_t step) {
  std::erase(before_, step);  // it reads what it writes
  std::sort(before_.begin(), before_.end());
  before_.erase(std::unique(before_.begin(), before_.end()), before_.end());
  drop_implied();
  first_edge_.resize(step + 1, edges_.size());
  for (const std::uint32_t earlier : before_) edges_.emplace_back(earlier, step);
  before_.clear();
}

// A step need not be waited for if another one that is waited for waits for it. Looks one step back only,
// which finds what hazards repeat.
void Builder::drop_implied() {
  // One alone is not implied; and who waits for the fold of all others' messages need not look at them all.
  if (before_.size() < 2) return;
  std::vector<std::uint32_t> implied;
  for (const std::uint32_t other : before_)
    for (std::size_t i = first_edge_[other]; i < edges_.size() && edges_[i].second == other; ++i)
      if (std::binary_search(before_.begin(), before_.end(), edges_[i].first))
        implied.push_back(edges_[i].first);
  std::sort(implied.begin(), implied.end());
  std::erase_if(before_, [&](std::uint32_t earlier) {
    return std::binary_search(implied.begin(), implied.end(), earlier);
  });
}

void Builder::order(std::uint32_t earlier, std::uint32_t later) {
  if (earlier != no_step && later != no_step) ordered_.emplace_back(earlier, later);
}

void Builder::enter_lane(Lanes& lanes, std::uint32_t peer, std::uint32_t step) {
  const auto [last, is_first] = lanes.try_emplace(peer, step);
  if (is_first) return;
  schedule_.steps[last->second].next_in_lane = step;
  ++schedule_.steps[step].blockers;
  last->second = step;
}

std::uint32_t Builder::send(std::uint32_t peer, const Slice& from) {
  if (from.count == 0) return no_step;
  const std::uint32_t step = add({.kind = StepKind::send, .peer = peer, .from = from});
  reads(step, from);
  settle(step);
  enter_lane(sends_, peer, step);
  return step;
}

std::uint32_t Builder::receive(std::uint32_t peer, const Slice& to) {
  if (to.count == 0) return no_step;
  const std::uint32_t step = add({.kind = StepKind::receive, .peer = peer, .to = to});
  writes(step, to);
  settle(step);
  enter_lane(receives_, peer, step);
  return step;
}

std::uint32_t Builder::copy(const Slice& from, const Slice& to, std::uint32_t peer) {
  assert(from.count == to.count);
  if (from.count == 0 || place(from) == place(to)) return no_step;
  const std::uint32_t step = add({.kind = StepKind::copy, .peer = peer, .from = from, .to = to});
  reads(step, from);
  writes(step, to);
  settle(step);
  return step;
}

std::uint32_t Builder::reduce(const Slice& to, std::span<const Slice> operands) {
  if (operands.size() == 1) return copy(operands[0], to);
  if (to.count == 0) return no_step;
  const std::uint32_t step = add({.kind = StepKind::reduce,
                                  .first_operand = static_cast<std::uint32_t>(schedule_.operands.size()),
                                  .operand_count = static_cast<std::uint32_t>(operands.size()),
                                  .to = to});
  for (const Slice& operand : operands) {
    assert(operand.count == to.count);
    schedule_.operands.push_back(operand);
    reads(step, operand);
  }
  writes(step, to);
  settle(step);
  return step;
}

std::uint32_t Builder::publish(Progress progress) {
  const auto turn = static_cast<std::int32_t>(schedule_.turns) - 1;
  const std::uint32_t step = add({.kind = StepKind::publish, .mark = mark_of(turn, progress)});
  before_ = std::move(shared_);
  settle(step);
  shared_ = {step};
  return published_ = step;
}

std::uint32_t Builder::await_turn(std::uint32_t peer, std::int32_t mark) {
  if (peer == everyone && sharers_.size() == 1) peer = sharers_[0];  // one look instead of a loop over them
  const std::uint32_t step = add({.kind = StepKind::await, .peer = peer, .mark = mark});
  if (published_ != no_step) before_.push_back(published_);
  settle(step);
  shared_.push_back(step);
  awaits_.resize(size_, no_step);
  if (peer != everyone)
    awaits_[peer] = step;
  else
    for (const std::uint32_t sharer : sharers_) awaits_[sharer] = step;
  return step;
}

std::uint32_t Builder::await_mark(std::uint32_t peer, Progress progress) {
  return await_turn(peer, mark_of(static_cast<std::int32_t>(schedule_.turns) - 1, progress));
}

void Builder::make_room(std::uint32_t readers) {
  const auto turn = static_cast<std::int32_t>(schedule_.turns) - 1;
  const std::int32_t mark = mark_of(turn + 1 - reused_after_, Progress::entered);
  const std::uint32_t step = await_turn(is_after_others_ ? readers : everyone, mark);
  schedule_.steps[step].for_room = reused_after_ > 2;
  // In the first turn of this collective they have done with what was before.
  is_after_others_ = is_after_others_ || mark > 0;
}

void Builder::look_back() {
  await_turn(everyone, mark_of(static_cast<std::int32_t>(schedule_.turns) - 2, Progress::entered));
}

void Builder::may_lend(Loan buffer) noexcept {
  if (!has_loans_) return;
  (buffer == Loan::input ? schedule_.may_lend_input : schedule_.may_lend_output) = true;
}

void Builder::end_loans() {
  if (!has_loans_ || schedule_.turns == 0) return;
  schedule_.has_loans = true;
  schedule_.steps[publish(Progress::returned)].for_lenders = true;
  schedule_.steps[await_mark(everyone, Progress::returned)].for_lenders = true;
}

std::uint32_t Builder::signal(std::uint32_t peer) {
  const std::uint32_t step = add({.kind = StepKind::send, .peer = peer});
  enter_lane(sends_, peer, step);
  return step;
}

std::uint32_t Builder::await(std::uint32_t peer) {
  const std::uint32_t step = add({.kind = StepKind::receive, .peer = peer});
  enter_lane(receives_, peer, step);
  return step;
}

Schedule Builder::finish() {
  edges_.insert(edges_.end(), ordered_.begin(), ordered_.end());
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  schedule_.successors.reserve(edges_.size());
  for (const auto& [earlier, later] : edges_) {
    Step& step = schedule_.steps[earlier];
    if (step.successor_count++ == 0)
      step.first_successor = static_cast<std::uint32_t>(schedule_.successors.size());
    schedule_.successors.push_back(later);
    ++schedule_.steps[later].blockers;
  }
  return std::move(schedule_);
}

}  // namespace parley::schedule
