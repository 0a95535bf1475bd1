#include "tests/model/schedule/boards.h"

#include <algorithm>
#include <utility>

namespace parley::schedule {

Boards::Boards(const Group& group, const std::vector<Schedule>& schedules) : published_(schedules.size()) {
  std::size_t steps = 0;
  bool is_used = false;
  for (const Schedule& schedule : schedules) {
    first_.push_back(steps);
    steps += schedule.steps.size();
    is_used = is_used || schedule.turns != 0;
  }
  if (!is_used) return;
  known_.resize(steps, Steps(steps / 64 + 1));
  for (std::uint32_t rank = 0; rank < schedules.size(); ++rank) {
    // All have entered the turn before the first one.
    published_[rank][mark_of(-1, Progress::entered)] = Steps(steps / 64 + 1);
    for (const bool is_odd : {false, true})
      for (const auto& [space, count] : {std::pair(Space::line, group.shape(rank).line_count),
                                         std::pair(Space::stage, group.shape(rank).stage_count)})
        for (std::uint64_t i = 0; i < count; ++i)
          memory_[{space, rank, is_odd}].push_back(garbage(std::uint64_t{rank} << 32 | i));
  }
}

Boards::Steps& Boards::known_to(std::uint32_t rank, std::uint32_t step) {
  return known_[number(rank, step)];
}

std::span<Value> Boards::at(const Slice& slice) {
  return std::span(memory_.at({slice.space, slice.owner, slice.turn % 2 != 0}))
      .subspan(slice.begin, slice.count);
}

std::string Boards::reads(std::uint32_t rank, std::uint32_t step, const Slice& slice) {
  return touch(slice, {slice.begin, slice.end(), rank, step, false});
}

std::string Boards::writes(std::uint32_t rank, std::uint32_t step, const Slice& slice) {
  if (slice.owner != rank) return "rank " + std::to_string(rank) + " writes what is another's";
  return touch(slice, {slice.begin, slice.end(), rank, step, true});
}

std::string Boards::touch(const Slice& slice, const Access& access) {
  const Place place{slice.space, slice.owner, slice.turn % 2 != 0};
  if (slice.end() > memory_[place].size()) return "a slice leaves its line or stage";
  const Steps& known = known_to(access.rank, access.step);
  for (const Access& other : accesses_[place]) {
    const bool overlaps = other.begin < access.end && access.begin < other.end;
    if (!overlaps || (!other.writes && !access.writes)) continue;
    const std::size_t bit = number(other.rank, other.step);
    const bool is_itself = other.rank == access.rank && other.step == access.step;
    if (!is_itself && (known[bit / 64] >> bit % 64 & 1) == 0)
      return "step " + std::to_string(access.step) + " of rank " + std::to_string(access.rank) +
             " races with step " + std::to_string(other.step) + " of rank " + std::to_string(other.rank);
  }
  accesses_[place].push_back(access);
  return "";
}

std::string Boards::publish(std::uint32_t rank, std::uint32_t step, std::int32_t mark) {
  auto& marks = published_[rank];
  if (marks.rbegin()->first >= mark) return "the marks of rank " + std::to_string(rank) + " do not grow";
  Steps known = known_to(rank, step);
  known[number(rank, step) / 64] |= 1ULL << number(rank, step) % 64;
  marks.emplace(mark, std::move(known));
  return "";
}

bool Boards::has_come(std::uint32_t peer, std::int32_t mark) const {
  return published_[peer].rbegin()->first >= mark;
}

bool Boards::await(std::uint32_t rank, std::uint32_t step, std::uint32_t peer, std::int32_t mark) {
  std::vector<std::uint32_t> peers;
  for (std::uint32_t other = 0; other < published_.size(); ++other)
    if (other != rank && (peer == everyone || peer == other)) peers.push_back(other);
  const auto came = [&](std::uint32_t other) { return has_come(other, mark); };
  if (!std::all_of(peers.begin(), peers.end(), came)) return false;
  // Of all that may have been seen, the least is sure.
  Steps& known = known_to(rank, step);
  for (const std::uint32_t other : peers) {
    const Steps& seen = published_[other].lower_bound(mark)->second;
    for (std::size_t word = 0; word < known.size(); ++word) known[word] |= seen[word];
  }
  return true;
}

void Boards::order(std::uint32_t rank, std::uint32_t earlier, std::uint32_t later) {
  if (known_.empty()) return;
  const Steps& from = known_to(rank, earlier);
  Steps& to = known_to(rank, later);
  for (std::size_t word = 0; word < to.size(); ++word) to[word] |= from[word];
  to[number(rank, earlier) / 64] |= 1ULL << number(rank, earlier) % 64;
}

namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;

// Appends the steps of a schedule, as `change` makes them, and their edges.
template <typename Change>
void append(Schedule& to, std::vector<Edge>& edges, const Schedule& from, const Change& change) {
  const auto first = static_cast<std::uint32_t>(to.steps.size());
  const auto operands = static_cast<std::uint32_t>(to.operands.size());
  for (std::uint32_t i = 0; i < from.steps.size(); ++i) {
    Step step = from.steps[i];
    for (std::uint32_t s = 0; s < step.successor_count; ++s)
      edges.emplace_back(first + i, first + from.successors[step.first_successor + s]);
    change(step.from);
    change(step.to);
    step.first_operand += operands;
    to.steps.push_back(step);
  }
  for (Slice operand : from.operands) {
    change(operand);
    to.operands.push_back(operand);
  }
}

void connect(Schedule& schedule, std::vector<Edge> edges) {
  std::sort(edges.begin(), edges.end());
  for (Step& step : schedule.steps) step.successor_count = step.blockers = 0;
  for (const auto& [earlier, later] : edges) {
    Step& step = schedule.steps[earlier];
    if (step.successor_count++ == 0)
      step.first_successor = static_cast<std::uint32_t>(schedule.successors.size());
    schedule.successors.push_back(later);
    ++schedule.steps[later].blockers;
  }
}

}  // namespace

Schedule set_aside(Schedule schedule, std::uint64_t input_count, std::uint64_t output_count) {
  const auto move = [&](Slice& slice) {
    if (is_shared(slice.space)) return;
    if (slice.space == Space::output) slice.begin += input_count;
    if (slice.space == Space::scratch) slice.begin += input_count + output_count;
    slice.space = Space::scratch;
  };
  for (Step& step : schedule.steps) {
    move(step.from);
    move(step.to);
  }
  for (Slice& operand : schedule.operands) move(operand);
  schedule.scratch_count += input_count + output_count;
  return schedule;
}

Schedule followed_by(const Schedule& first, const Schedule& second) {
  Schedule both;
  std::vector<Edge> edges;
  append(both, edges, first, [](Slice&) {});
  // All of the first before all of the second.
  const auto joint = static_cast<std::uint32_t>(both.steps.size());
  for (std::uint32_t i = 0; i < joint; ++i)
    if (both.steps[i].successor_count == 0) edges.emplace_back(i, joint);
  both.steps.push_back({.kind = StepKind::copy});
  const auto begin = static_cast<std::uint32_t>(both.steps.size());
  append(both, edges, second, [&](Slice& slice) {
    if (is_shared(slice.space)) slice.turn += first.turns;
    if (slice.space == Space::scratch) slice.begin += first.scratch_count;
  });
  for (std::uint32_t i = 0; i < second.steps.size(); ++i) {
    both.steps[begin + i].mark += static_cast<std::int32_t>(first.turns) * marks_per_turn;
    if (second.steps[i].blockers == 0) edges.emplace_back(joint, begin + i);
  }
  connect(both, std::move(edges));
  both.scratch_count = first.scratch_count + second.scratch_count;
  both.turns = first.turns + second.turns;
  return both;
}

}  // namespace parley::schedule
