#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parley::sim {

// What is not as it should be: ranks that take longer for all they do themselves (messages, copies, folds;
// not for what is under way), and a host that was lost.
struct Trouble {
  struct Straggler {
    std::uint32_t rank = 0;
    double factor = 1;
  };
  std::vector<Straggler> stragglers;
  // All ranks by chance: 1 + |x| of a normal distribution around 0, or 1 + x of an exponential one.
  struct Noise {
    bool is_exponential = false;
    double size = 0;  // standard deviation, mean
    std::uint64_t seed = 0;
  };
  std::optional<Noise> noise;
  std::optional<std::uint32_t> lost_host;

  [[nodiscard]] bool has_stragglers() const noexcept { return !stragglers.empty() || noise; }
};

// Adds "RANK:FACTOR", "normal:SIZE:SEED" or "exponential:SIZE:SEED". Throws UsageError.
void add_straggler(Trouble& trouble, std::string_view text);

// Of each rank; those named beyond the last one are left out. The same on every machine. Empty without
// stragglers.
std::vector<float> slowdowns(const Trouble& trouble, std::uint32_t ranks);

// "rank 17 takes 3 times as long", or how chance has it.
std::string describe_stragglers(const Trouble& trouble);

}  // namespace parley::sim
