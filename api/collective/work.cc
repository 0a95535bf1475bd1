// What a run copies and folds, piece by piece: where it lies, or by way of stages.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "api/collective/fold_shown.h"
#include "api/collective/places.h"
#include "api/collective/run.h"
#include "transport/base/non_temporal.h"

namespace parley::collective {

using base::Code;
using base::Status;
using schedule::Loan;
using schedule::Slice;
using schedule::Space;
using schedule::Step;
using schedule::StepKind;

namespace {
constexpr std::size_t most_bytes_before_ringing = 4096;  // a microsecond or less
// Of what the kernel copies at once, in 60 to 105 us: each call takes 1 to 2 us before it copies anything.
constexpr std::uint64_t pieces_per_copy = 4;
}  // namespace

// Copies and reduces what one turn is long enough for, or until a transfer may begin. False: the turn is
// over.
bool Run::work_pieces() noexcept {
  ring_before(plan_->schedule.steps[agenda_.first_local()]);
  for (std::uint64_t left = piece_count();;) {
    left -= std::min(left, work_a_piece(left));
    if (left == 0) return false;
    if (agenda_.has_transfer() || !agenda_.has_local()) return true;
  }
}

// Others may sleep, and could work meanwhile.
void Run::ring_before(const Step& step) noexcept {
  if (step.to.count * call_->question.element_bytes > most_bytes_before_ringing) ring();
}

// Of the oldest step that is not done, at most so many elements. How many.
std::uint64_t Run::work_a_piece(std::uint64_t most) noexcept {
  const std::uint32_t index = agenda_.first_local();
  const Step& step = plan_->schedule.steps[index];
  std::uint64_t count = 0;
  if (index >= executed_) [[likely]] {
    count = std::min(is_brought(step.from) ? pieces_per_copy * most : most, step.to.count - local_offset_);
    work(step, count);
  } else {
    local_offset_ = step.to.count;
  }
  if (failure_) [[unlikely]]
    return most;
  local_offset_ += count;
  if (local_offset_ == step.to.count) {
    local_offset_ = 0;
    agenda_.pop_local();
    end(index);
  }
  return count;
}

// A copy or a reduction, from where it stands.
void Run::work(const Step& step, std::uint64_t count) noexcept {
  if (step.to.loan != Loan::none && is_shared(step.to.space)) loans_.tell();
  std::byte* const to = at(step.to, local_offset_);
  const std::size_t bytes = count * call_->question.element_bytes;
  if (step.kind == StepKind::copy) {
    const std::byte* const from = at(step.from, local_offset_);
    if (!has_all_lent()) return;
    if (from == nullptr) [[unlikely]]
      (void)bring(step.from, to, count);
    else if (step.to.space == Space::output && to != from && may_land_past_caches(bytes))
      base::copy_past_caches(to, from, bytes);
    else
      copy_for(step, to, from, bytes);
    return;
  }
  const Slice* const slices = &plan_->schedule.operands[step.first_operand];
  for (std::uint32_t i = 0; i < step.operand_count; ++i) operands_[i] = at(slices[i], local_offset_);
  if (!has_all_lent()) return;
  std::byte* room = brought_.data();
  for (std::uint32_t i = 0; i < step.operand_count; ++i) {
    if (operands_[i] != nullptr) [[likely]]
      continue;
    if (!bring(slices[i], room, count)) return;
    operands_[i] = std::exchange(room, room + bytes);
  }
  const std::span<const void*> operands(operands_.data(), step.operand_count);
  if (device_) [[unlikely]]
    device_->fold(to, operands, count);
  else if (is_shown(step.to))
    fold_shown(lane_.sharing.stores.of(schedule::everyone), *call_->reduction, to, operands, count);
  else
    call_->reduction->fold(to, operands, count);
}

// What is staged, or finished, is read again at once.
bool Run::may_land_past_caches(std::size_t bytes) const noexcept {
  return base::has_copy_past_caches && plan_->lands_past_caches && !has_extra_work_ &&
         bytes >= base::StoreChoice::least_bytes;
}

// Whether other ranks read it where it lies.
bool Run::is_shown(const Slice& slice) const noexcept {
  return slice.space == Space::stage ||
         (slice.space == Space::output && slice.loan == Loan::output && loans_.lends(Loan::output));
}

// From where the step that is under way stands in it. False: that has failed.
bool Run::bring(const Slice& slice, std::byte* to, std::uint64_t count) noexcept {
  const std::uint64_t element_bytes = call_->question.element_bytes;
  const Status status =
      loans_.bring(slice.owner, slice.loan, (slice.lent_begin + local_offset_) * element_bytes,
                   {to, count * element_bytes});
  if (status.ok()) return true;
  failure_ = Failure{status, &messenger_->peer(lane_.team.processes[slice.owner])};
  return false;
}

// False: a rank has lent what cannot be found.
bool Run::has_all_lent() noexcept {
  const auto liar = loans_.liar();
  if (!liar) [[likely]]
    return true;
  failure_ = Failure{Code::protocol_violation, &messenger_->peer(lane_.team.processes[*liar])};
  return false;
}

std::byte* Run::lent(const schedule::Slice& slice, std::uint64_t offset) noexcept {
  const std::uint64_t element_bytes = call_->question.element_bytes;
  return loans_.find(slice.owner, slice.loan, (slice.lent_begin + offset) * element_bytes,
                     (slice.count - offset) * element_bytes);
}

}  // namespace parley::collective
