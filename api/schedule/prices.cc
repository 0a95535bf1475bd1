#include "api/schedule/prices.h"

#include <algorithm>

#include "api/schedule/catalogue.h"

namespace parley::schedule {
namespace {

// All that is measured stands in this table; two cores of a virtual machine, `parley-bench latency` and
// `bandwidth` over the link, both directions busy. What counts is which algorithm is better, so a factor
// of 1.5 does no harm.
constexpr LinkPrice prices[] = {
    {250, 150, 0.08, 0.08},   // shared_memory
    {2500, 1500, 0.18, 0.30}  // tcp
};
constexpr double large_message_bytes = 512 << 10;
// Who waits for a rank that has no core waits for a switch of contexts.
constexpr double switch_ns = 3000;
// What ranks that share a core show each other has left its nearest caches when it is read: all_reduce of two
// to four times 16 KiB, by flat and by slices, takes some two times what follows from the prices of those
// with a core each.
constexpr double shared_core_bytes = 1.75;
// Pipelines want all their ranks to run at once: with fewer cores a segment waits for more than its switch.
constexpr double shared_pipeline = 1.6;

bool is_pipeline(Algorithm algorithm) {
  return algorithm == Algorithm::chain || algorithm == Algorithm::binary_tree ||
         algorithm == Algorithm::segmented_ring;
}

double path_ns(const Path& path, const LinkPrice& price, std::uint64_t element_bytes, double sharing) {
  const double bytes = static_cast<double>(path.elements * element_bytes);
  const auto messages = static_cast<double>(path.messages);
  const bool is_large = bytes > messages * large_message_bytes;
  return static_cast<double>(path.hops) * price.latency_ns + messages * (price.message_ns + step_ns) +
         bytes * (is_large ? price.large_byte_ns : price.byte_ns) * sharing;
}

double shown_ns(const Path& path, std::uint64_t element_bytes, double sharing) {
  return static_cast<double>(path.elements * element_bytes) * shared_byte_ns * sharing;
}

double marks_ns(const Path& path) {
  return static_cast<double>(path.hops) * (mark_ns + step_ns) +
         static_cast<double>(path.messages) * seen_mark_ns;
}

// One rank folds. Meanwhile the others copy the next segment, or give their cores away.
bool folds_alone(Operation operation, Algorithm algorithm) {
  return operation == Operation::reduce && algorithm == Algorithm::flat;
}

// What such a rank folds while those on other cores copy the next segment.
double folded_meanwhile_ns(double shown, double folded, std::uint64_t segments) {
  return std::min(shown, folded) * (1 - 1 / static_cast<double>(segments));
}

}  // namespace

std::string_view name(Link link) noexcept {
  return link == Link::shared_memory ? "shared memory" : "TCP";
}

LinkPrice price(Link link) noexcept {
  return prices[static_cast<std::size_t>(link)];
}

std::uint32_t ranks_that_cross(Algorithm algorithm, const Shape& shape) {
  switch (algorithm) {
    case Algorithm::two_level:
    // A chain or ring leaves a host once, if hosts are runs of ranks.
    case Algorithm::chain:
    case Algorithm::ring:
    case Algorithm::segmented_ring:
    case Algorithm::scatter_ring: return 1;
    default: return largest_host(shape);
  }
}

double predict_ns(Operation operation, Algorithm algorithm, const Shape& shape, std::uint64_t element_bytes,
                  const Surroundings& surroundings) {
  const Cost promised = cost(operation, algorithm, shape);
  const double crossing = promised.far.elements > 0 ? ranks_that_cross(algorithm, shape) : 1;
  const bool shares_cores = surroundings.ranks_per_core > 1;
  Path near = promised.near, far = promised.far;
  // What a message takes beyond its ends is done by the hosts' cores, too: where those are scarce nobody does
  // anything else meanwhile.
  if (shares_cores)
    for (Path* path : {&near, &far}) path->hops = path->messages;
  const double in_memory = shares_cores ? shared_core_bytes : 1;
  const double nearby = surroundings.near == Link::shared_memory ? in_memory : 1;
  const double shown = shown_ns(promised.shared, element_bytes, in_memory);
  const double moved = path_ns(near, price(surroundings.near), element_bytes, nearby) +
                       path_ns(far, price(surroundings.far), element_bytes, crossing) +
                       marks_ns(promised.shared) + shown;
  const double folded = static_cast<double>(promised.reduced * element_bytes) *
                        (promised.shared.hops > 0 ? shared_fold_byte_ns * in_memory : fold_byte_ns);
  // Ranks in turns: all they do takes that much longer, and each hop needs a switch.
  const double turns =
      shares_cores ? surroundings.ranks_per_core * (is_pipeline(algorithm) ? shared_pipeline : 1) : 1;
  const double switches =
      shares_cores ? static_cast<double>(promised.near.hops + promised.far.hops + promised.shared.hops) : 0;
  const double ns = moved * turns + switches * switch_ns;
  if (!folds_alone(operation, algorithm)) return ns + folded * turns;
  const bool has_other_cores = surroundings.ranks_per_core < shape.size;
  return ns + folded -
         (has_other_cores ? folded_meanwhile_ns(shown * turns, folded, promised.shared.hops) : 0);
}

}  // namespace parley::schedule
