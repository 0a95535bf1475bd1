#include "bench/transport_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/side_by_side.h"
#include "bench/sizes.h"

namespace parley::bench {
namespace {

using Json = nlohmann::json;

template <typename Value>
std::optional<Value> field(const Json& row, const char* name) {
  const Json& value = row.at(name);
  return value.is_null() ? std::nullopt : std::optional<Value>(value.get<Value>());
}

// What the table is about.
Row row_from(Op op, std::string_view text) {
  const Json json = Json::parse(text);
  Row row;
  row.subject.op = op;
  row.subject.transport = json.at("transport").get<std::string>();
  row.subject.bytes = json.at("bytes").get<std::size_t>();
  row.system = json.at("system").get<std::string>();
  row.rounds = json.at("rounds").get<int>();
  row.rounds_left_out = json.at("rounds_left_out").get<int>();
  row.median_us = json.at("median_us").get<double>();
  row.limit_us = field<double>(json, "limit_us");
  row.limit_mb_per_s = field<double>(json, "limit_mb_per_s");
  row.ratio_to_limit = field<double>(json, "ratio_to_limit");
  row.probe_ns = json.at("probe_ns").get<double>();
  row.core_share = field<double>(json, "core_share");
  row.void_reason = field<std::string>(json, "void");
  return row;
}

// Of the row's limit: as a time of one message.
std::optional<double> limit_us_of(const Row& row) {
  if (row.limit_us || !row.limit_mb_per_s) return row.limit_us;
  return static_cast<double>(row.subject.bytes) / *row.limit_mb_per_s;
}

std::string shown(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

}  // namespace

std::string TransportTable::header() const {
  std::string text = "# " + side_by_side_title(op_) +
                     "; limit: the fastest loop without a library, in the same rounds\n" +
                     fmt::format("{:<8}", "# Size");
  for (const std::string_view transport : compared_transports)
    text += fmt::format("{:>12}{:>11}{:>9}{:>10}", transport, "limit", "x limit", "probe_ns");
  return text + '\n';
}

std::string TransportTable::add(std::string_view json) {
  rows_.push_back(row_from(op_, json));
  const Row& row = rows_.back();
  if (row.subject.transport != "tcp" || row.system != "raw") return {};
  std::string text = fmt::format("{:<8}", format_size(row.subject.bytes));
  for (const std::string_view transport : compared_transports) text += columns_of(transport);
  text += '\n';
  for (const std::string_view transport : compared_transports) text += notes_of(transport);
  rows_.clear();
  return text;
}

// Nothing of a run that has failed.
std::string TransportTable::columns_of(std::string_view transport) const {
  const auto row = std::find_if(rows_.begin(), rows_.end(), [transport](const Row& one) {
    return one.subject.transport == transport && one.system == "parley";
  });
  if (row == rows_.end()) return fmt::format("{:>12}{:>11}{:>9}{:>10}", "-", "-", "-", "-");
  const int digits = is_windowed(op_) && op_ != Op::message_rate ? 0 : 3;
  std::optional<double> limit = limit_us_of(*row);
  if (limit) limit = side_by_side_figure(*row, *limit);
  return fmt::format("{:>12.{}f}{:>11}{:>9}{:>10.0f}", side_by_side_figure(*row, row->median_us), digits,
                     shown(limit, digits), shown(row->ratio_to_limit, 2), row->probe_ns);
}

std::string TransportTable::notes_of(std::string_view transport) const {
  std::vector<const Row*> rows;
  for (const Row& row : rows_)
    if (row.subject.transport == transport) rows.push_back(&row);
  if (rows.empty()) return {};
  std::string text;
  std::string_view notes;
  const std::string all = side_by_side_notes(rows);
  for (notes = all; !notes.empty(); notes.remove_prefix(notes.find('\n') + 1))
    text += fmt::format("# {}: {}\n", transport, notes.substr(2, notes.find('\n') - 2));
  return text;
}

}  // namespace parley::bench
