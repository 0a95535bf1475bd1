#include "api/schedule/catalogue.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "api/schedule/barriers.h"
#include "api/schedule/binary_tree.h"
#include "api/schedule/binomial.h"
#include "api/schedule/bruck.h"
#include "api/schedule/chain.h"
#include "api/schedule/exchange.h"
#include "api/schedule/flat.h"
#include "api/schedule/halving.h"
#include "api/schedule/linear.h"
#include "api/schedule/recursive_doubling.h"
#include "api/schedule/ring.h"
#include "api/schedule/rooted.h"
#include "api/schedule/scan.h"
#include "api/schedule/slices.h"
#include "api/schedule/subtrees.h"
#include "api/schedule/two_level.h"

namespace parley::schedule {
namespace {

std::vector<Entry> gather_entries() {
  std::vector<Entry> all;
  for (const auto entries : {
           barrier_entries(),
           binary_tree_entries(),
           binomial_entries(),
           bruck_entries(),
           chain_entries(),
           exchange_entries(),
           flat_entries(),
           halving_entries(),
           linear_entries(),
           recursive_doubling_entries(),
           ring_entries(),
           rooted_entries(),
           scan_entries(),
           slices_entries(),
           subtree_entries(),
           two_level_entries(),
       })
    all.insert(all.end(), entries.begin(), entries.end());
  std::sort(all.begin(), all.end(), [](const Entry& left, const Entry& right) {
    return std::pair(left.operation, left.algorithm) < std::pair(right.operation, right.algorithm);
  });
  return all;
}

// A group of one: what comes out is what went in, if anything.
void alone(Builder& builder, Operation operation) {
  if (operation != Operation::exscan) builder.copy(builder.input(), builder.output());
}

}  // namespace

std::span<const Entry> catalogue() {
  static const std::vector<Entry> all = gather_entries();
  return all;
}

const Entry* find_entry(Operation operation, Algorithm algorithm) noexcept {
  for (const Entry& entry : catalogue())
    if (entry.operation == operation && entry.algorithm == algorithm) return &entry;
  return nullptr;
}

bool supports(Operation operation, Algorithm algorithm, const Shape& shape) {
  const Entry* entry = find_entry(operation, algorithm);
  return entry != nullptr && (entry->fits == nullptr || entry->fits(shape));
}

std::vector<Algorithm> supported(Operation operation, const Shape& shape) {
  std::vector<Algorithm> found;
  for (const Algorithm algorithm : all_algorithms())
    if (supports(operation, algorithm, shape)) found.push_back(algorithm);
  return found;
}

Traits traits(Operation operation, Algorithm algorithm, const Shape& shape) {
  const Entry* entry = find_entry(operation, algorithm);
  const bool keeps =
      entry->order == Order::rank || (entry->order == Order::rank_if_root_0 && shape.root == 0);
  return {keeps || shape.size == 1, entry->folds_once || shape.size == 1};
}

Schedule make(Operation operation, Algorithm algorithm, const Shape& shape) {
  assert(supports(operation, algorithm, shape));
  Builder builder(operation, shape);
  if (shape.size == 1)
    alone(builder, operation);
  else
    find_entry(operation, algorithm)->generate(builder, shape);
  return builder.finish();
}

Cost cost(Operation operation, Algorithm algorithm, const Shape& shape) {
  if (shape.size == 1) return {};
  Cost result = find_entry(operation, algorithm)->cost(shape);
  for (Path* path : {&result.near, &result.far})
    if (path->hops == 0) path->hops = path->messages;
  // Who does not look at hosts may have a message between hosts in every step.
  if (!looks_at_hosts(algorithm) && host_count(shape) > 1) std::swap(result.near, result.far);
  return result;
}

}  // namespace parley::schedule
