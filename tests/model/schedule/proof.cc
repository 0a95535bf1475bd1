#include "tests/model/schedule/proof.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tests/model/schedule/boards.h"
#include "tests/model/schedule/inspection.h"
#include "tests/model/schedule/port_time.h"
#include "tests/model/schedule/readers.h"
#include "tests/model/schedule/simulation.h"

namespace parley::schedule {
namespace {

std::string exceeds(const char* what, std::uint64_t is, std::uint64_t promised) {
  if (is <= promised) return "";
  return std::string(what) + ": " + std::to_string(is) + ", promised " + std::to_string(promised);
}

std::string check_traffic(std::uint32_t rank, const Schedule& schedule, const Cost& promised) {
  std::uint64_t sent = 0, reduced = 0, awaited = 0, copied = 0;
  for (const Step& step : schedule.steps) {
    if (step.kind == StepKind::send) sent += step.from.count;
    if (step.kind == StepKind::reduce) reduced += step.to.count * (step.operand_count - 1);
    if (step.kind == StepKind::await && !step.for_lenders) ++awaited;
    if (step.kind == StepKind::copy && (is_shared(step.from.space) || is_shared(step.to.space)))
      copied += step.to.count;
  }
  const std::string who = "rank " + std::to_string(rank) + " ";
  std::string problem = exceeds((who + "sends").c_str(), sent, promised.sent);
  if (problem.empty()) problem = exceeds((who + "folds").c_str(), reduced, promised.reduced);
  if (problem.empty()) problem = exceeds((who + "awaits marks").c_str(), awaited, promised.shared.messages);
  if (problem.empty() && schedule.turns != 0)
    problem = exceeds((who + "copies").c_str(), copied, promised.shared.elements);
  return problem;
}

Path worst_path(const Path& left, const Path& right) {
  return {std::max(left.messages, right.messages), std::max(left.elements, right.elements),
          std::max(left.hops, right.hops)};
}

// The ranks of an uneven all_to_all make different promises: the group is done when the slowest one is.
Cost worst_cost(const Group& group) {
  Cost worst;
  for (std::uint32_t rank = 0; rank < group.what().size; ++rank) {
    const Cost one = cost(group.what().operation, group.what().algorithm, group.shape(rank));
    worst.near = worst_path(worst.near, one.near);
    worst.far = worst_path(worst.far, one.far);
    worst.shared = worst_path(worst.shared, one.shared);
    worst.sent = std::max(worst.sent, one.sent);
    worst.reduced = std::max(worst.reduced, one.reduced);
  }
  return worst;
}

std::string check_cost(const Group& group, const std::vector<Schedule>& schedules) {
  const Cost promised = worst_cost(group);
  for (std::uint32_t rank = 0; rank < schedules.size(); ++rank) {
    std::string problem = check_traffic(rank, schedules[rank], promised);
    if (!problem.empty()) return problem;
  }
  // In place, messages are the same.
  if (group.what().in_place != InPlace::nobody) return "";
  // Where blocks differ, a rank that has less to do runs ahead, and its messages take the ports from others.
  if (group.what().uneven) return "";
  const auto [near, far] = std::pair(promised.near, promised.far);
  std::string problem =
      exceeds("messages", port_time(group, schedules, {1, 0, 1, 0}), near.messages + far.messages);
  if (problem.empty())
    problem = exceeds("elements", port_time(group, schedules, {0, 1, 0, 1}), near.elements + far.elements);
  if (problem.empty())
    problem = exceeds("hops", port_time(group, schedules, {0, 0, 0, 0, 1}), near.hops + far.hops);
  if (!problem.empty() || near.messages == 0 || far.messages == 0) return problem;
  // Where a part of the way is far, what is far stays within it.
  constexpr std::uint64_t dear = 1000;
  problem = exceeds("far messages", port_time(group, schedules, {1, 0, dear, 0}),
                    near.messages + dear * far.messages);
  if (problem.empty())
    problem = exceeds("far elements", port_time(group, schedules, {0, 1, 0, dear}),
                      near.elements + dear * far.elements);
  return problem;
}

// Each finds its place in a stage by what it knows of the schedules of all.
std::string check_places(const Group& group, const std::vector<Schedule>& schedules) {
  for (std::uint32_t rank = 0; rank < schedules.size(); ++rank)
    for (std::uint32_t other = 0; other < rank; ++other) {
      if (group.host(rank) != group.host(other)) continue;
      const Schedule &one = schedules[rank], &two = schedules[other];
      if (one.turns != two.turns || one.stage_count != two.stage_count || one.has_loans != two.has_loans)
        return "ranks " + std::to_string(other) + " and " + std::to_string(rank) +
               " use other turns, places or loans";
    }
  return "";
}

bool share_memory(const std::vector<Schedule>& schedules) {
  return std::any_of(schedules.begin(), schedules.end(), [](const auto& one) { return one.turns != 0; });
}

// Some other collective of the same ranks in the same memory.
std::vector<Schedule> another(const Group& group, std::uint64_t draw) {
  constexpr Operation on_a_host[] = {Operation::all_reduce, Operation::broadcast, Operation::gather,
                                     Operation::barrier, Operation::scatter};
  constexpr Operation between_hosts[] = {Operation::all_reduce, Operation::broadcast, Operation::all_gather,
                                         Operation::barrier, Operation::reduce};
  Case one = group.what();
  const bool is_on_a_host = one.placing == Placing::one_host;
  one.operation = (is_on_a_host ? on_a_host : between_hosts)[draw % std::size(on_a_host)];
  one.algorithm = is_on_a_host ? Algorithm::flat : Algorithm::two_level;
  one.root = static_cast<std::uint32_t>((draw >> 8) % one.size);
  one.count = 1 + (draw >> 32) % (2 * one.stage_count);
  one.in_place = InPlace::nobody;
  one.uneven = false;
  one.everyone_lends = false;
  const Group other(one);
  std::vector<Schedule> schedules = other.schedules();
  for (std::uint32_t rank = 0; rank < schedules.size(); ++rank)
    schedules[rank] = set_aside(std::move(schedules[rank]), input_count(one.operation, other.shape(rank)),
                                output_count(one.operation, other.shape(rank)));
  return schedules;
}

// The turn in which they have told each other that they do.
std::vector<Schedule> after_roll_call(const Group& group, std::vector<Schedule> schedules) {
  if (!group.what().everyone_lends) return schedules;
  Case one = group.what();
  one.operation = Operation::barrier;
  one.algorithm = Algorithm::flat;
  one.in_place = InPlace::nobody;
  one.uneven = one.everyone_lends = false;
  const std::vector<Schedule> calls = Group(one).schedules();
  for (std::size_t rank = 0; rank < schedules.size(); ++rank)
    schedules[rank] = followed_by(calls[rank], schedules[rank], Joint::parts);
  return schedules;
}

std::vector<Schedule> between_others(const Group& group, const std::vector<Schedule>& schedules,
                                     std::uint32_t seed) {
  const std::vector<Schedule> before = another(group, mix(seed)), after = another(group, mix(~seed));
  std::vector<Schedule> all;
  for (std::uint32_t rank = 0; rank < schedules.size(); ++rank)
    all.push_back(followed_by(followed_by(before[rank], schedules[rank]), after[rank]));
  return all;
}

}  // namespace

std::string prove(const Group& group, const std::vector<Schedule>& schedules, std::uint32_t seed) {
  std::string problem;
  for (std::uint32_t rank = 0; rank < schedules.size() && problem.empty(); ++rank) {
    problem = inspect(group.what(), group.shape(rank), schedules[rank]);
    if (!problem.empty()) problem = "rank " + std::to_string(rank) + ": " + problem;
  }
  if (problem.empty()) problem = check_places(group, schedules);
  if (problem.empty()) problem = check_readers(schedules);
  const std::vector<Schedule> calls = after_roll_call(group, schedules);
  // Rendezvous first: what comes to an end without any buffering does so with it.
  for (const Sends sends : {Sends::rendezvous, Sends::buffered, Sends::mixed})
    if (problem.empty()) problem = simulate(group, calls, sends, seed++);
  if (share_memory(schedules))
    for (int i = 0; i < 3 && problem.empty(); ++i, ++seed)
      problem = simulate(group, between_others(group, calls, seed), Sends::mixed, seed);
  if (group.what().operation == Operation::barrier && group.what().size > 1)
    for (std::uint32_t late = 0; late < schedules.size() && problem.empty(); ++late)
      problem = simulate_late(group, schedules, late);
  if (problem.empty()) problem = check_cost(group, schedules);
  return problem;
}

std::string prove(const Case& one, std::uint32_t seed) {
  const Group group(one);
  return group.all_fit() ? prove(group, group.schedules(), seed) : "";
}

}  // namespace parley::schedule
