#include "tests/model/schedule/inspection.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "api/schedule/rank_blocks.h"

namespace parley::schedule {
namespace {

struct Access {
  std::size_t buffer = 0;
  std::uint64_t begin = 0, end = 0;
  std::uint32_t step = 0;
  bool writes = false;
};

class Inspection {
 public:
  Inspection(const Case& one, const Shape& shape, const Schedule& schedule) : schedule_(schedule) {
    // Where everyone lends, stages stand for buffers as a whole.
    const std::uint64_t stage_count =
        shape.everyone_lends ? std::max(shape.count, largest_block(shape)) : schedule.stage_count;
    limits_ = {input_count(one.operation, shape),
               output_count(one.operation, shape),
               schedule.scratch_count,
               shape.line_count,
               shape.line_count,
               stage_count,
               stage_count};
    rank_ = shape.rank;
    if (!shape.in_place) return;
    const InPlaceLayout layout = in_place_layout(one.operation, shape);
    origin_[0] = layout.input_begin;
    origin_[1] = layout.output_begin;
    buffer_[0] = 1;
  }

  std::string run() {
    for (std::uint32_t i = 0; i < schedule_.steps.size(); ++i) look_at(i);
    for (const auto& [lane, last] : lanes_)
      if (schedule_.steps[last].next_in_lane != no_step) fail(last, "is last in its lane, but has a next");
    for (std::uint32_t i = 0; i < schedule_.steps.size() && problem_.empty(); ++i)
      if (blockers_of(i) != schedule_.steps[i].blockers) fail(i, "has a wrong number of blockers");
    if (problem_.empty()) find_paths();
    if (problem_.empty()) find_hazards();
    return problem_;
  }

 private:
  void fail(std::uint32_t step, const char* what) {
    if (problem_.empty()) problem_ = "step " + std::to_string(step) + " " + what;
  }

  void touch(std::uint32_t step, const Slice& slice, bool writes) {
    auto place = static_cast<std::size_t>(slice.space);
    if (is_shared(slice.space))
      place = (slice.space == Space::line ? first_line : first_stage) + slice.turn % 2;
    if (slice.end() > limits_[place]) return fail(step, "leaves its buffer");
    if (writes && slice.space == Space::input && slice.count > 0) return fail(step, "writes the input");
    const bool is_others = is_shared(slice.space) && slice.owner != rank_;
    if (writes && is_others) return fail(step, "writes what is another rank's");
    if (is_others) return;  // what it races with runs elsewhere: see boards.h
    const std::uint64_t begin = origin_[place] + slice.begin;
    if (slice.count > 0) accesses_.push_back({buffer_[place], begin, begin + slice.count, step, writes});
  }

  void look_at(std::uint32_t index) {
    const Step& step = schedule_.steps[index];
    if (step.kind == StepKind::send || step.kind == StepKind::copy) touch(index, step.from, false);
    const bool writes = step.kind == StepKind::receive || is_local(step);
    if (writes) touch(index, step.to, true);
    if (step.kind == StepKind::copy && step.from.count != step.to.count) fail(index, "copies another count");
    if (step.kind == StepKind::reduce) look_at_operands(index, step);
    look_at_lane(index, step);
    for (std::uint32_t i = 0; i < step.successor_count; ++i)
      if (schedule_.successors[step.first_successor + i] <= index) fail(index, "comes after its successor");
  }

  void look_at_lane(std::uint32_t index, const Step& step) {
    const bool is_transfer = step.kind == StepKind::send || step.kind == StepKind::receive;
    if (!is_transfer && step.next_in_lane != no_step) fail(index, "is no transfer but has a lane");
    if (!is_transfer) return;
    const auto [last, is_first] = lanes_.try_emplace({step.kind, step.peer}, index);
    if (!is_first && schedule_.steps[last->second].next_in_lane != index)
      fail(index, "is not next in its lane");
    last->second = index;
  }

  void look_at_operands(std::uint32_t index, const Step& step) {
    if (step.operand_count < 2) fail(index, "folds fewer than two operands");
    for (std::uint32_t i = 0; i < step.operand_count; ++i) {
      const Slice& operand = schedule_.operands[step.first_operand + i];
      if (operand.count != step.to.count) fail(index, "folds slices of different counts");
      touch(index, operand, false);
    }
  }

  std::uint32_t blockers_of(std::uint32_t index) {
    if (blockers_.empty()) {
      blockers_.resize(schedule_.steps.size());
      for (const std::uint32_t later : schedule_.successors) ++blockers_[later];
      for (const Step& step : schedule_.steps)
        if (step.next_in_lane != no_step) ++blockers_[step.next_in_lane];
    }
    return blockers_[index];
  }

  // reaches_[i] has a bit for each step that begins only after the end of step i.
  void find_paths() {
    const std::size_t words = schedule_.steps.size() / 64 + 1;
    reaches_.assign(schedule_.steps.size(), std::vector<std::uint64_t>(words));
    for (std::size_t i = schedule_.steps.size(); i-- > 0;)
      for (std::uint32_t s = 0; s < schedule_.steps[i].successor_count; ++s) {
        const std::uint32_t later = schedule_.successors[schedule_.steps[i].first_successor + s];
        reaches_[i][later / 64] |= 1ULL << later % 64;
        for (std::size_t word = 0; word < words; ++word) reaches_[i][word] |= reaches_[later][word];
      }
  }

  void find_hazards() {
    std::sort(accesses_.begin(), accesses_.end(), [](const Access& left, const Access& right) {
      return std::tie(left.buffer, left.begin) < std::tie(right.buffer, right.begin);
    });
    for (std::size_t i = 0; i < accesses_.size(); ++i)
      for (std::size_t j = i + 1; j < accesses_.size() && accesses_[j].buffer == accesses_[i].buffer &&
                                  accesses_[j].begin < accesses_[i].end;
           ++j)
        compare(accesses_[i], accesses_[j]);
  }

  void compare(const Access& left, const Access& right) {
    if (!left.writes && !right.writes) return;
    if (left.step == right.step) {
      // A reduction may write exactly one of its operands, nothing else that it reads.
      const bool same = left.begin == right.begin && left.end == right.end;
      if (!same || schedule_.steps[left.step].kind != StepKind::reduce)
        fail(left.step, "writes what it reads");
      return;
    }
    const std::uint32_t first = std::min(left.step, right.step), second = std::max(left.step, right.step);
    if ((reaches_[first][second / 64] >> second % 64 & 1) == 0) fail(second, "races with an earlier step");
  }

  const Schedule& schedule_;
  // The caller's two, scratch, and our own lines and stages.
  static constexpr std::size_t first_line = 3, first_stage = 5, buffers = 7;
  std::array<std::uint64_t, buffers> limits_{};
  std::array<std::uint64_t, buffers> origin_{};
  std::array<std::size_t, buffers> buffer_{0, 1, 2, 3, 4, 5, 6};
  std::uint32_t rank_ = 0;
  std::map<std::pair<StepKind, std::uint32_t>, std::uint32_t> lanes_;  // the last step of each
  std::vector<Access> accesses_;
  std::vector<std::uint32_t> blockers_;
  std::vector<std::vector<std::uint64_t>> reaches_;
  std::string problem_;
};

}  // namespace

std::string inspect(const Case& one, const Shape& shape, const Schedule& schedule) {
  if (schedule.stage_count > shape.stage_count) return "uses more than there is of a stage";
  return Inspection(one, shape, schedule).run();
}

}  // namespace parley::schedule
