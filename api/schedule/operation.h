#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace parley::schedule {

enum class Operation : std::uint8_t {
  broadcast,
  reduce,
  all_reduce,
  scatter,
  gather,
  all_gather,
  reduce_scatter,
  all_to_all,
  barrier,
  scan,    // rank r gets the fold of the inputs of ranks 0 to r
  exscan,  // rank r gets that of ranks 0 to r-1; rank 0's output is left alone
};

// The same name is one idea, whatever it is used for: what exists for which operation is in catalogue.h.
enum class Algorithm : std::uint8_t {
  linear,
  ring,
  segmented_ring,
  recursive_doubling,
  recursive_halving,
  rabenseifner,
  binomial,
  chain,
  binary_tree,
  scatter_ring,
  bruck,
  pairwise,
  dissemination,
  two_level,
  two_level_sliced,
  flat,
  slices,
  rooted,
};

inline constexpr std::size_t operation_count = 11;

// As users write them: the enumerators' names.
std::string_view name(Operation operation) noexcept;
std::string_view name(Algorithm algorithm) noexcept;
std::optional<Operation> find_operation(std::string_view name) noexcept;
std::optional<Algorithm> find_algorithm(std::string_view name) noexcept;

std::span<const Operation> all_operations() noexcept;
std::span<const Algorithm> all_algorithms() noexcept;

// Whether contributions of several ranks are folded into one.
bool reduces(Operation operation) noexcept;
// Whether one rank is the source or the destination of it all.
bool has_root(Operation operation) noexcept;

}  // namespace parley::schedule
