#include "tools/sim/trouble.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tools/sim/quantity.h"

namespace parley::sim {
namespace {

constexpr std::string_view option = "--straggler";
constexpr std::string_view right =
    "write RANK:FACTOR (17:3), normal:SIZE:SEED or exponential:SIZE:SEED (normal:0.1:1)";

// Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014. The standard's
// distributions differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  // In (0, 1].
  double next() noexcept {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    x ^= x >> 31;
    return static_cast<double>((x >> 11) + 1) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

double draw(Random& random, const Trouble::Noise& noise) {
  const double radius = -std::log(random.next());
  if (noise.is_exponential) return noise.size * radius;
  // Box and Muller.
  return noise.size * std::abs(std::sqrt(2 * radius) * std::cos(2 * std::numbers::pi * random.next()));
}

}  // namespace

void add_straggler(Trouble& trouble, std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) throw UsageError(fmt::format("{} {}: {}", option, text, right));
  const std::string_view first = text.substr(0, colon), rest = text.substr(colon + 1);
  if (first == "normal" || first == "exponential") {
    const std::size_t second = rest.find(':');
    if (second == std::string_view::npos) throw UsageError(fmt::format("{} {}: {}", option, text, right));
    trouble.noise = {first == "exponential", parse_factor(option, rest.substr(0, second)),
                     parse_count(option, rest.substr(second + 1))};
    return;
  }
  const std::uint64_t rank = first == "0" ? 0 : parse_count(option, first);
  if (rank > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(fmt::format("{} {}: {}", option, text, right));
  const double factor = parse_factor(option, rest);
  if (factor < 1)
    throw UsageError(fmt::format("{} {}: a straggler takes at least once its time", option, text));
  trouble.stragglers.push_back({static_cast<std::uint32_t>(rank), factor});
}

std::vector<float> slowdowns(const Trouble& trouble, std::uint32_t ranks) {
  if (!trouble.has_stragglers()) return {};
  std::vector<float> factors(ranks, 1.0F);
  if (trouble.noise) {
    Random random(trouble.noise->seed);
    for (float& factor : factors) factor += static_cast<float>(draw(random, *trouble.noise));
  }
  for (const auto& [rank, factor] : trouble.stragglers)
    if (rank < ranks) factors[rank] *= static_cast<float>(factor);
  return factors;
}

std::string describe_stragglers(const Trouble& trouble) {
  std::string text;
  if (trouble.noise)
    text = fmt::format("each rank takes 1 + x times as long, x {} of {}, seed {}",
                       trouble.noise->is_exponential ? "exponential with a mean" : "normal with a deviation",
                       trouble.noise->size, trouble.noise->seed);
  for (const auto& [rank, factor] : trouble.stragglers)
    text += fmt::format("{}rank {} takes {} times as long", text.empty() ? "" : ", ", rank, factor);
  return text;
}

}  // namespace parley::sim
