#include "tools/sim/quantity.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

namespace parley::sim {
namespace {

constexpr std::string_view letters = "KMG";
constexpr std::uint64_t most_count = std::uint64_t{1} << 40;

struct Unit {
  std::string_view name;
  double size;
};
constexpr std::array<Unit, 5> durations = {{{"ps", 1e-3}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
constexpr std::array<Unit, 4> rates = {{{"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}}};

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view right) {
  throw UsageError(fmt::format("{} {}: {}", option, text.empty() ? "''" : text, right));
}

// The number that the text begins with, and what follows it.
struct Number {
  double value = 0;
  std::string_view rest;
};
std::optional<Number> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  return Number{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

std::vector<std::string_view> split(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(between, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

constexpr std::string_view no_range =
    "a range is FIRST:LAST, which doubles, or FIRST:LAST:xFACTOR with a whole factor above 1, as 8:64K:x4";

void append_range(std::string_view option, std::string_view text, std::vector<std::uint64_t>& counts) {
  const std::vector<std::string_view> parts = split(text, ':');
  const std::uint64_t first = parse_count(option, parts[0]);
  if (parts.size() == 1) {
    counts.push_back(first);
    return;
  }
  const std::uint64_t last = parse_count(option, parts[1]);
  std::uint64_t factor = 2;
  if (parts.size() == 3 && parts[2].starts_with('x')) factor = parse_count(option, parts[2].substr(1));
  if (parts.size() > 3 || (parts.size() == 3 && !parts[2].starts_with('x')) || factor < 2)
    refuse(option, text, no_range);
  if (last < first) refuse(option, text, "the range runs backwards: write the smaller number first");
  for (std::uint64_t count = first; count <= last; count *= factor) counts.push_back(count);
}

}  // namespace

std::uint64_t parse_count(std::string_view option, std::string_view text) {
  constexpr std::string_view right =
      "is no whole number above 0, with K, M or G for powers of 1024 (8, 64K, 1M)";
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc{} || value == 0 || rest.size() > 1) refuse(option, text, right);
  if (value > most_count) refuse(option, text, "is more than 1024G");
  if (!rest.empty()) {
    const std::size_t power =
        letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(rest[0]))));
    if (power == std::string_view::npos) refuse(option, text, right);
    value <<= 10 * (power + 1);
  }
  if (value > most_count) refuse(option, text, "is more than 1024G");
  return value;
}

std::vector<std::uint64_t> parse_counts(std::string_view option, std::string_view text) {
  std::vector<std::uint64_t> counts;
  for (const std::string_view part : split(text, ',')) append_range(option, part, counts);
  return counts;
}

double parse_duration_ns(std::string_view option, std::string_view text) {
  if (const auto found = number(text))
    for (const Unit& unit : durations)
      if (found->rest == unit.name) return found->value * unit.size;
  refuse(option, text, "is no duration: write a number with ps, ns, us, ms or s, as 2.5us");
}

double parse_byte_ns(std::string_view option, std::string_view text) {
  const auto found = number(text);
  if (found && found->value > 0) {
    for (const Unit& unit : durations)
      if (found->rest == unit.name) return found->value * unit.size;
    std::string_view rest = found->rest;
    if (rest.ends_with("B/s")) rest.remove_suffix(3);
    for (const Unit& unit : rates)
      if (rest == unit.name) return 1e9 / (found->value * unit.size);
  }
  refuse(option, text, "is neither bytes a second (25G, 25GB/s) nor the time of a byte (40ps)");
}

double parse_factor(std::string_view option, std::string_view text) {
  const auto found = number(text);
  if (!found || !found->rest.empty() || found->value <= 0) refuse(option, text, "is no number above 0");
  return found->value;
}

std::string format_bytes(std::uint64_t bytes) {
  for (std::size_t power = letters.size(); power > 0; --power) {
    const std::uint64_t unit = std::uint64_t{1} << (10 * power);
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{} {}iB", bytes / unit, letters[power - 1]);
  }
  return fmt::format("{} B", bytes);
}

std::string format_ns(double ns) {
  std::size_t unit = 1;
  // The limit lies where rounding would add a digit.
  while (unit + 1 < durations.size() && ns >= 999.5 * durations[unit].size) ++unit;
  const double value = ns / durations[unit].size;
  const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, digits, durations[unit].name);
}

std::string format_rate(double byte_ns) {
  return fmt::format("{:.3g} GB/s", 1 / byte_ns);
}

}  // namespace parley::sim
