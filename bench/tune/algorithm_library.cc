#include "bench/tune/algorithm_library.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "api/schedule/names.h"
#include "bench/parley_collective.h"

namespace parley::bench::tune {
namespace {

// After so many calls the ranks of a group share memory, if they can: from then on its plans are the last.
constexpr int calls_to_meet = 8;

void let_meet(ProcessGroup& group) {
  for (int i = 0; i < calls_to_meet; ++i) group.barrier();
}

// "broadcast=ring,all_reduce=ring"
std::string wish_for(schedule::Algorithm algorithm) {
  std::string text;
  for (const schedule::Operation operation : schedule::all_operations()) {
    if (!schedule::has_algorithm(operation, algorithm)) continue;
    text += (text.empty() ? "" : ",") + std::string(name(operation)) + '=' + std::string(name(algorithm));
  }
  return text;
}

}  // namespace

schedule::Algorithm algorithm_in(std::string_view plan) {
  constexpr std::string_view before = ": ";
  const std::size_t colon = plan.find(before);
  const std::string_view rest = colon == std::string_view::npos ? "" : plan.substr(colon + before.size());
  const auto found = schedule::find_algorithm(rest.substr(0, rest.find_first_of(" ,;")));
  if (!found) throw std::runtime_error("no algorithm is in the plan '" + std::string(plan) + "'");
  return *found;
}

AlgorithmLibrary::AlgorithmLibrary(ProcessGroup& group) : group_(group), world_(group) {
  let_meet(group);
}

ProcessGroup& AlgorithmLibrary::group_of(schedule::Algorithm algorithm) {
  const auto known = groups_.find(algorithm);
  if (known != groups_.end()) return known->second;
  ProcessGroup group = group_.dup({.name = std::string(name(algorithm)), .algorithms = wish_for(algorithm)});
  let_meet(group);
  return groups_.emplace(algorithm, std::move(group)).first->second;
}

std::vector<Contender> AlgorithmLibrary::collective_contenders(const Stage& stage,
                                                               CollectiveBuffers& buffers) {
  const std::string_view operation = to_string(stage.op);
  const std::size_t bytes = buffers.count() * sizeof(float);
  std::vector<Contender> contenders;
  const auto add = [&](schedule::Algorithm algorithm) {
    ProcessGroup& group = group_of(algorithm);
    if (algorithm_in(group.describe_plan(operation, bytes)) != algorithm) return;
    contenders.push_back(make_collective_contender<ParleyCollective>(std::string(name(algorithm)), stage,
                                                                     buffers, group, buffers, false));
  };
  const schedule::Algorithm predicted = algorithm_in(group_.describe_plan(operation, bytes));
  add(predicted);
  if (contenders.empty())
    throw std::runtime_error("a group of its own cannot do " + std::string(operation) + " by " +
                             std::string(name(predicted)));
  for (const schedule::Algorithm algorithm : schedule::all_algorithms())
    if (algorithm != predicted && has_algorithm(*schedule::find_operation(operation), algorithm))
      add(algorithm);
  return contenders;
}

}  // namespace parley::bench::tune
