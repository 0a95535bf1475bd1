#include "bench/compare/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/figures/axis.h"

namespace parley::bench::compare {
namespace {

constexpr std::array<Operation, 13> operations = {{
    {"latency", Figure::time, true, "one way, half of a round trip"},
    {"bandwidth", Figure::bandwidth, true, "windows of messages in one direction"},
    {"bidirectional", Figure::bandwidth, true, "windows of messages in both directions at once"},
    {"message-rate", Figure::rate, true, "windows of messages in one direction, counted"},
    {"broadcast", Figure::time, true, "time of one call"},
    {"reduce", Figure::time, true, "time of one call"},
    {"all_reduce", Figure::time, true, "time of one call"},
    {"all_gather", Figure::time, true, "time of one call"},
    {"reduce_scatter", Figure::time, true, "time of one call"},
    {"all_to_all", Figure::time, true, "time of one call"},
    {"gather", Figure::time, true, "time of one call"},
    {"scatter", Figure::time, true, "time of one call"},
    {"barrier", Figure::time, false, "time of one call"},
}};

}  // namespace

std::span<const Operation> all_operations() noexcept {
  return operations;
}

std::vector<std::string_view> operation_names() {
  std::vector<std::string_view> names;
  for (const Operation& one : operations) names.push_back(one.name);
  return names;
}

const Operation& operation(std::string_view name) {
  return *std::find_if(operations.begin(), operations.end(),
                       [name](const Operation& one) { return one.name == name; });
}

Op op_named(std::string_view name) {
  return std::find_if(bench::operations.begin(), bench::operations.end(),
                      [name](const bench::Operation& one) { return one.name == name; })
      ->op;
}

std::string setting_of(const Case& where) {
  return fmt::format("{}, {} ranks, buffers {}{}", where.transport, where.ranks,
                     where.rewritten ? "rewritten" : "kept", where.arena ? ", Parley's in its arena" : "");
}

std::string title_of(const Case& where) {
  return where.op + ", " + setting_of(where);
}

std::string slug_of(const Case& where) {
  return fmt::format("{}-{}-{}-{}{}", where.op, where.transport, where.ranks,
                     where.rewritten ? "rewritten" : "kept", where.arena ? "-arena" : "");
}

double figure_of(Figure figure, std::size_t bytes, double us) noexcept {
  switch (figure) {
    case Figure::time: return us;
    // Bytes per microsecond are MB per second.
    case Figure::bandwidth: return static_cast<double>(bytes) / us;
    case Figure::rate: return 1 / us;
  }
  return us;
}

std::string_view unit_of(Figure figure) noexcept {
  switch (figure) {
    case Figure::time: return "µs";
    case Figure::bandwidth: return "MB/s";
    case Figure::rate: return "M messages/s";
  }
  return "";
}

std::string tick_label(Figure figure, double value) {
  switch (figure) {
    case Figure::time: return figures::time_label(value);
    case Figure::bandwidth: return figures::bandwidth_label(value);
    case Figure::rate: return figures::rate_label(value);
  }
  return {};
}

std::string format_figure(double value) {
  const double size = std::abs(value);
  // The limits lie where rounding would add a digit.
  const int digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f}", value, digits);
}

std::string counted(std::size_t count, std::string_view what, std::string_view several) {
  if (count == 1) return fmt::format("1 {}", what);
  return several.empty() ? fmt::format("{} {}s", count, what) : fmt::format("{} {}", count, several);
}

}  // namespace parley::bench::compare
