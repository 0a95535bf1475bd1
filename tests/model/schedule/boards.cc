#include "tests/model/schedule/boards.h"

#include <algorithm>
#include <utility>

namespace parley::schedule {

Boards::Boards(const Group& group, const std::vector<Schedule>& schedules, std::uint32_t seed)
    : group_(group), looked_at_(schedules.size()), published_(schedules.size()) {
  std::size_t steps = 0;
  bool is_used = false;
  for (const Schedule& schedule : schedules) {
    first_.push_back(steps);
    steps += schedule.steps.size();
    is_used = is_used || schedule.turns != 0;
    const std::uint64_t draw = mix(seed * 131 + first_.size());
    const bool all = group.what().everyone_lends;
    lenders_.push_back({schedule.may_lend_input && (all || draw % 2 == 0),
                        schedule.may_lend_output && (all || draw / 2 % 2 == 0)});
  }
  if (!is_used) return;
  known_.resize(steps, Steps(steps / 64 + 1));
  for (std::uint32_t rank = 0; rank < schedules.size(); ++rank) {
    // All have entered the turn before the first one.
    published_[rank][mark_of(-1, Progress::entered)] = Steps(steps / 64 + 1);
    for (const auto& [space, count] : {std::pair(Space::line, group.shape(rank).line_count),
                                       std::pair(Space::stage, group.shape(rank).stage_count)})
      for (std::uint32_t which = 0; which < turns_of(space); ++which)
        for (std::uint64_t i = 0; i < count; ++i)
          memory_[{space, rank, which}].push_back(garbage(std::uint64_t{rank} << 32 | i));
  }
}

Boards::Steps& Boards::known_to(std::uint32_t rank, std::uint32_t step) {
  return known_[number(rank, step)];
}

bool Boards::is_lent(const Slice& slice) const {
  if (slice.space != Space::stage || slice.loan == Loan::none) return false;
  const Lender& lender = lenders_[slice.owner];
  return slice.loan == Loan::input ? lender.lends_input : lender.lends_output;
}

bool Boards::may_be_awaited(std::uint32_t rank) const {
  for (std::uint32_t other = 0; other < lenders_.size(); ++other)
    if (group_.are_neighbours(rank, other) && (lends(other) || !looked_at_[rank].contains(other)))
      return true;
  return false;
}

std::span<Value> Boards::at(const Slice& slice) {
  return std::span(memory_.at(place_of(slice))).subspan(slice.begin, slice.count);
}

std::uint32_t Boards::turns_of(Space space) const {
  const Shape& shape = group_.shape(0);
  return static_cast<std::uint32_t>(space == Space::line ? shape.line_turns : shape.stage_turns);
}

Boards::Place Boards::place_of(const Slice& slice) const {
  return {slice.space, slice.owner, slice.turn % turns_of(slice.space)};
}

// In place, both buffers are one.
Boards::Located Boards::in_buffer(std::uint32_t rank, Loan buffer, std::uint64_t begin,
                                  std::uint64_t count) const {
  const Lender& lender = lenders_[rank];
  const bool is_input = buffer == Loan::input;
  if (!group_.shape(rank).in_place)
    return {{is_input ? Space::input : Space::output, rank, 0},
            begin,
            count,
            is_input ? lender.lends_input : lender.lends_output};
  const InPlaceLayout layout = in_place_layout(group_.what().operation, group_.shape(rank));
  return {{Space::output, rank, 0},
          begin + (is_input ? layout.input_begin : layout.output_begin),
          count,
          lender.lends_input || lender.lends_output};
}

Boards::Located Boards::located(std::uint32_t rank, const Slice& slice) const {
  if (is_lent(slice)) return in_buffer(slice.owner, slice.loan, slice.lent_begin, slice.count);
  if (is_shared(slice.space)) return {place_of(slice), slice.begin, slice.count, true};
  if (slice.space == Space::scratch) return {{}, 0, 0, false};
  return in_buffer(rank, slice.space == Space::input ? Loan::input : Loan::output, slice.begin, slice.count);
}

std::string Boards::reads(std::uint32_t rank, std::uint32_t step, const Slice& slice) {
  if (is_shared(slice.space) && slice.owner != rank && !group_.are_neighbours(rank, slice.owner))
    return "rank " + std::to_string(rank) + " reads what is on another host";
  if (is_shared(slice.space) && slice.loan != Loan::none) looked_at_[rank].insert(slice.owner);
  return touch(rank, step, located(rank, slice), false);
}

std::string Boards::writes(std::uint32_t rank, std::uint32_t step, const Slice& slice) {
  if (is_shared(slice.space) && slice.owner != rank)
    return "rank " + std::to_string(rank) + " writes what is another's";
  return touch(rank, step, located(rank, slice), true);
}

std::string Boards::between(std::uint32_t rank, std::uint32_t step) {
  constexpr std::uint64_t all = 1ULL << 40;
  looked_at_[rank].clear();
  std::string problem = touch(rank, step, in_buffer(rank, Loan::input, 0, all), true);
  return problem.empty() ? touch(rank, step, in_buffer(rank, Loan::output, 0, all), true) : problem;
}

std::string Boards::touch(std::uint32_t rank, std::uint32_t step, const Located& what, bool writes) {
  if (known_.empty() || !what.is_seen_by_others || what.count == 0) return "";
  const Access access{what.begin, what.begin + what.count, rank, step, writes};
  const bool is_board =
      std::get<Space>(what.place) == Space::line || std::get<Space>(what.place) == Space::stage;
  if (is_board && access.end > memory_[what.place].size()) return "a slice leaves its line or stage";
  const Steps& known = known_to(rank, step);
  for (const Access& other : accesses_[what.place]) {
    const bool overlaps = other.begin < access.end && access.begin < other.end;
    if (!overlaps || (!other.writes && !access.writes)) continue;
    const std::size_t bit = number(other.rank, other.step);
    const bool is_itself = other.rank == access.rank && other.step == access.step;
    if (!is_itself && (known[bit / 64] >> bit % 64 & 1) == 0)
      return "step " + std::to_string(access.step) + " of rank " + std::to_string(access.rank) +
             " races with step " + std::to_string(other.step) + " of rank " + std::to_string(other.rank);
  }
  accesses_[what.place].push_back(access);
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

std::string Boards::may_await(std::uint32_t rank, std::uint32_t peer, std::int32_t mark) const {
  if (peer != everyone && !group_.are_neighbours(rank, peer))
    return "rank " + std::to_string(rank) + " waits for a mark that it does not see";
  const auto turn_of = [](std::int32_t of) {
    return (of + 8 * marks_per_turn) / marks_per_turn;
  };  // from -8 on
  const std::int32_t known_turns = group_.shape(rank).line_turns;
  if (turn_of(published_[rank].rbegin()->first) < turn_of(mark) + known_turns) return "";
  return "rank " + std::to_string(rank) + " waits for mark " + std::to_string(mark) + " too many turns later";
}

bool Boards::has_come(std::uint32_t peer, std::int32_t mark) const {
  return published_[peer].rbegin()->first >= mark;
}

bool Boards::await(std::uint32_t rank, std::uint32_t step, std::uint32_t peer, std::int32_t mark) {
  std::vector<std::uint32_t> peers;
  for (std::uint32_t other = 0; other < published_.size(); ++other)
    if (peer == other || (peer == everyone && group_.are_neighbours(rank, other))) peers.push_back(other);
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
    if (step.next_in_lane != no_step) step.next_in_lane += first;
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
  for (std::uint32_t i = 0; i < schedule.steps.size(); ++i)
    if (schedule.steps[i].next_in_lane != no_step) ++schedule.steps[schedule.steps[i].next_in_lane].blockers;
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
    if (is_shared(slice.space)) {
      slice = slice.of(Loan::none, 0);
      return;
    }
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
  schedule.may_lend_input = schedule.may_lend_output = false;
  return schedule;
}

bool is_between_collectives(const Step& copy) {
  return copy.to.count == 0 && copy.peer != everyone;
}

Schedule followed_by(const Schedule& first, const Schedule& second, Joint joint) {
  Schedule both;
  std::vector<Edge> edges;
  append(both, edges, first, [](Slice&) {});
  // All of the first before all of the second.
  const auto middle = static_cast<std::uint32_t>(both.steps.size());
  for (std::uint32_t i = 0; i < middle; ++i)
    if (both.steps[i].successor_count == 0) edges.emplace_back(i, middle);
  both.steps.push_back({.kind = StepKind::copy, .peer = joint == Joint::parts ? everyone : 0});
  const auto begin = static_cast<std::uint32_t>(both.steps.size());
  append(both, edges, second, [&](Slice& slice) {
    if (is_shared(slice.space)) slice.turn += first.turns;
    if (slice.space == Space::scratch) slice.begin += first.scratch_count;
  });
  for (std::uint32_t i = 0; i < second.steps.size(); ++i) {
    both.steps[begin + i].mark += static_cast<std::int32_t>(first.turns) * marks_per_turn;
    edges.emplace_back(middle, begin + i);
  }
  connect(both, std::move(edges));
  both.scratch_count = first.scratch_count + second.scratch_count;
  both.turns = first.turns + second.turns;
  both.may_lend_input = first.may_lend_input || second.may_lend_input;
  both.may_lend_output = first.may_lend_output || second.may_lend_output;
  return both;
}

}  // namespace parley::schedule
