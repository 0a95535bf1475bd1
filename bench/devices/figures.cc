#include "bench/devices/figures.h"

#include <algorithm>

#include "bench/side_by_side.h"

namespace parley::bench {
namespace {

// In tables, where "raw" needs not be said.
std::string_view name_of(const Row& row) noexcept {
  constexpr std::string_view raw = "raw ";
  const std::string_view system = row.system;
  return system.starts_with(raw) ? system.substr(raw.size()) : system;
}

}  // namespace

std::string_view limit_for(const Subject& subject) noexcept {
  if (is_collective(subject.op)) return device_copy;
  if (is_staged(subject.transport)) return parley_host;
  if (!subject.devices.is_mixed()) return device_copy;
  return subject.devices.leaders == Memory::cuda ? device_to_pinned : pinned_to_device;
}

void compare_with_limit(std::span<Row> rows) {
  const std::string_view wanted = limit_for(rows.front().subject);
  const auto is_limit = [wanted](const Row& row) { return row.system == wanted; };
  const Row limit = *std::find_if(rows.begin(), rows.end(), is_limit);
  for (Row& row : rows) compare_with_limit(row, limit);
}

std::string device_header(Op op) {
  return side_by_side_header(op, "System", "x limit", "");
}

std::string device_lines(std::span<const Row> rows) {
  std::string text;
  std::vector<const Row*> all;
  for (const Row& row : rows) {
    const bool is_limit = row.system == limit_for(row.subject);
    text += side_by_side_line(row, name_of(row), is_limit ? "limit" : "");
    all.push_back(&row);
  }
  return text + side_by_side_notes(all);
}

}  // namespace parley::bench
