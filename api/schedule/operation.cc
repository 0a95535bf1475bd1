#include "api/schedule/operation.h"

#include <algorithm>
#include <array>
#include <utility>

namespace parley::schedule {
namespace {

constexpr std::array operations{
    Operation::broadcast, Operation::reduce,     Operation::all_reduce,     Operation::scatter,
    Operation::gather,    Operation::all_gather, Operation::reduce_scatter, Operation::all_to_all,
    Operation::barrier,   Operation::scan,       Operation::exscan,
};
static_assert(operations.size() == operation_count);
constexpr std::array<std::string_view, operations.size()> operation_names{
    "broadcast",      "reduce",     "all_reduce", "scatter", "gather", "all_gather",
    "reduce_scatter", "all_to_all", "barrier",    "scan",    "exscan",
};
constexpr std::array algorithms{
    Algorithm::linear,
    Algorithm::ring,
    Algorithm::segmented_ring,
    Algorithm::recursive_doubling,
    Algorithm::recursive_halving,
    Algorithm::rabenseifner,
    Algorithm::binomial,
    Algorithm::chain,
    Algorithm::binary_tree,
    Algorithm::scatter_ring,
    Algorithm::bruck,
    Algorithm::pairwise,
    Algorithm::dissemination,
    Algorithm::two_level,
    Algorithm::two_level_sliced,
    Algorithm::flat,
    Algorithm::slices,
    Algorithm::rooted,
};
constexpr std::array<std::string_view, algorithms.size()> algorithm_names{
    "linear",       "ring",     "segmented_ring", "recursive_doubling", "recursive_halving",
    "rabenseifner", "binomial", "chain",          "binary_tree",        "scatter_ring",
    "bruck",        "pairwise", "dissemination",  "two_level",          "two_level_sliced",
    "flat",         "slices",   "rooted",
};

template <typename Values, typename Names>
auto find(const Values& values, const Names& names, std::string_view name) noexcept
    -> std::optional<typename Values::value_type> {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return values[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace

std::string_view name(Operation operation) noexcept {
  return operation_names[static_cast<std::size_t>(operation)];
}
std::string_view name(Algorithm algorithm) noexcept {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}
std::optional<Operation> find_operation(std::string_view text) noexcept {
  return find(operations, operation_names, text);
}
std::optional<Algorithm> find_algorithm(std::string_view text) noexcept {
  return find(algorithms, algorithm_names, text);
}
std::span<const Operation> all_operations() noexcept {
  return operations;
}
std::span<const Algorithm> all_algorithms() noexcept {
  return algorithms;
}

bool reduces(Operation operation) noexcept {
  switch (operation) {
    case Operation::reduce:
    case Operation::all_reduce:
    case Operation::reduce_scatter:
    case Operation::scan:
    case Operation::exscan: return true;
    default: return false;
  }
}

bool has_root(Operation operation) noexcept {
  return operation == Operation::broadcast || operation == Operation::reduce ||
         operation == Operation::scatter || operation == Operation::gather;
}

}  // namespace parley::schedule
