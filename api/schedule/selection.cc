#include "api/schedule/selection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "api/schedule/catalogue.h"
#include "api/schedule/two_level.h"

namespace parley::schedule {
namespace {

// Below the first, the messages cost more than what they carry; above the last, more segments gain nothing.
constexpr std::array<std::uint64_t, 4> segment_bytes{8 << 10, 32 << 10, 128 << 10, 512 << 10};

// What one rank may need for the vectors of all others.
constexpr std::uint64_t most_at_one_rank = std::uint64_t{1} << 30;

bool has_segments(Operation operation, Algorithm algorithm) {
  if (algorithm == Algorithm::flat)
    return operation == Operation::broadcast || operation == Operation::reduce ||
           operation == Operation::gather || operation == Operation::scatter;
  return algorithm == Algorithm::segmented_ring || algorithm == Algorithm::chain ||
         algorithm == Algorithm::binary_tree;
}

// Where each rank knows its own counts only, all choose by the group alone: what is sent from each to each
// directly.
bool counts_are_private(const Request& request) {
  return !request.shape.counts.empty() &&
         (request.operation == Operation::all_to_all || request.operation == Operation::scatter ||
          request.operation == Operation::gather);
}

bool is_right(const Request& request, Algorithm algorithm) {
  if (!supports(request.operation, algorithm, request.shape)) return false;
  if (counts_are_private(request))
    return algorithm ==
           (request.operation == Operation::all_to_all ? Algorithm::pairwise : Algorithm::linear);
  if (!reduces(request.operation)) return true;
  const Traits has = traits(request.operation, algorithm, request.shape);
  return (request.commutative || has.keeps_rank_order) && (!request.rank_order || has.folds_once);
}

Candidate predicted(const Request& request, Algorithm algorithm, std::uint64_t segment_count) {
  if (counts_are_private(request)) return {algorithm, 0, 0};
  Shape shape = request.shape;
  shape.segment_count = segment_count;
  return {algorithm, segment_count,
          predict_ns(request.operation, algorithm, shape, request.element_bytes, request.surroundings)};
}

// The algorithm with the segments that suit it best.
Candidate best(const Request& request, Algorithm algorithm) {
  Candidate found = predicted(request, algorithm, 0);
  if (!has_segments(request.operation, algorithm)) return found;
  for (const std::uint64_t bytes : segment_bytes) {
    const std::uint64_t count = bytes / std::max<std::uint64_t>(request.element_bytes, 1);
    if (count == 0 || count >= request.shape.count) continue;
    const Candidate cut = predicted(request, algorithm, count);
    if (cut.predicted_ns < found.predicted_ns) found = cut;
  }
  return found;
}

std::string duration(double ns) {
  const char* unit = " ns";
  for (const char* larger : {" us", " ms", " s"}) {
    if (ns < 999.5) break;
    ns /= 1000;
    unit = larger;
  }
  // Two digits are more than a prediction has.
  if (ns < 10)
    return std::to_string(static_cast<int>(ns)) + "." + std::to_string(static_cast<int>(ns * 10) % 10) + unit;
  return std::to_string(std::lround(ns)) + unit;
}

std::string describe(const Request& request, const Candidate& candidate) {
  std::string text(name(candidate.algorithm));
  if (shares_memory_on_hosts(candidate.algorithm, request.shape)) text += " with memory shared on each host";
  if (candidate.segment_count > 0)
    text += " in segments of " + std::to_string(candidate.segment_count * request.element_bytes) + " bytes";
  if (candidate.predicted_ns > 0) text += ", about " + duration(candidate.predicted_ns);
  return text;
}

std::string describe(const Request& request) {
  const std::uint32_t hosts = host_count(request.shape);
  const Surroundings& around = request.surroundings;
  std::string text(name(request.operation));
  if (request.operation != Operation::barrier)
    text += request.shape.counts.empty()
                ? " of " + std::to_string(request.shape.count * request.element_bytes) + " bytes"
                : std::string(", uneven,");
  text += " on " + std::to_string(request.shape.size) + " ranks of " + std::to_string(hosts) +
          (hosts == 1 ? " host over " : " hosts over ");
  if (hosts < request.shape.size || hosts == 1) text += name(around.near);
  if (hosts > 1 && hosts < request.shape.size) text += " and ";
  if (hosts > 1) text += name(around.far);
  return text;
}

std::string why_not(const Request& request, Algorithm algorithm) {
  Shape with_memory = request.shape;
  with_memory.line_count = with_memory.stage_count = with_memory.size;
  if (request.shape.stage_count == 0 && !supports(request.operation, algorithm, request.shape) &&
      supports(request.operation, algorithm, with_memory))
    return "the ranks share no memory, or not before some calls";
  if (!supports(request.operation, algorithm, request.shape) || counts_are_private(request))
    return "it is not for such counts or hosts";
  return request.rank_order ? "it does not fold once, in rank order" : "it does not keep rank order";
}

// By the tuning table, whose sizes are those of even counts.
std::optional<Algorithm> measured(const Request& request, const Tuning* tuning) {
  if (tuning == nullptr || !request.shape.counts.empty() || host_count(request.shape) > 1)
    return std::nullopt;
  return tuning->find({.operation = request.operation,
                       .ranks = request.shape.size,
                       .link = request.surroundings.near,
                       .shares_cores = request.surroundings.ranks_per_core > 1,
                       .bytes = request.shape.count * request.element_bytes});
}

}  // namespace

std::vector<Candidate> candidates_for(const Request& request) {
  std::vector<Candidate> candidates;
  for (const Algorithm algorithm : all_algorithms())
    if (is_right(request, algorithm)) candidates.push_back(best(request, algorithm));
  // Of equals the first in the enumeration.
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& left, const Candidate& right) {
    return left.predicted_ns < right.predicted_ns;
  });
  return candidates;
}

Plan select(const Request& request, const Overrides& overrides) {
  std::vector<Candidate> candidates = candidates_for(request);
  // Puts one of them in front, if it is there.
  const auto prefer = [&](Algorithm algorithm) {
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
      return candidate.algorithm == algorithm;
    });
    if (found == candidates.end()) return false;
    std::rotate(candidates.begin(), found, found + 1);
    return true;
  };
  Plan plan;
  if (const auto asked = overrides.of(request.operation)) {
    plan.asked_for = prefer(*asked);
    if (!plan.asked_for) plan.refused = asked;
  }
  if (const auto fastest = plan.asked_for ? std::nullopt : measured(request, overrides.tuning())) {
    plan.measured = prefer(*fastest);
    if (!plan.measured) plan.unfit = fastest;
  }
  // There fewer ranks at work are faster, which no price of a link says.
  const bool is_one_device =
      request.surroundings.is_one_device && request.surroundings.near == Link::shared_memory;
  const bool has_room =
      (request.shape.size - 1) * request.shape.count * request.element_bytes <= most_at_one_rank;
  if (is_one_device && has_room && !plan.asked_for && !plan.measured)
    plan.for_one_device =
        prefer(Algorithm::rooted) || (has_root(request.operation) && prefer(Algorithm::linear));
  plan.chosen = candidates.front();
  if (candidates.size() > 1) plan.runner_up = candidates[1];
  return plan;
}

std::string explain(const Request& request, const Plan& plan) {
  std::string text = describe(request) + ": " + describe(request, plan.chosen);
  if (plan.asked_for) text += ", as PARLEY_ALGO or the group asks";
  if (plan.measured) text += ", as was measured (PARLEY_TUNING)";
  if (plan.for_one_device) text += ", for all memory is on one device";
  const bool is_predicted = !plan.asked_for && !plan.measured && !plan.for_one_device;
  if (plan.runner_up)
    text += std::string(is_predicted ? "; next best " : "; else ") + describe(request, *plan.runner_up);
  else
    text += "; nothing else can do this";
  if (plan.refused)
    text += ". " + std::string(name(*plan.refused)) +
            ", which PARLEY_ALGO or the group asks for, cannot: " + why_not(request, *plan.refused);
  if (plan.unfit)
    text += ". " + std::string(name(*plan.unfit)) +
            ", which the file of PARLEY_TUNING gives, cannot: " + why_not(request, *plan.unfit);
  return text;
}

}  // namespace parley::schedule
