#include "bench/compare/rows.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/bandwidth.h"
#include "bench/row.h"

namespace parley::bench::compare {
namespace {

using Json = nlohmann::ordered_json;

// As in the rows of a single operation.
Json rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json json_of(const std::optional<double>& value) {
  return value ? rounded(*value) : Json();
}

Json json_of(const std::optional<Ratio>& ratio) {
  if (!ratio) return {};
  if (!ratio->bounds) return Json::array({rounded(ratio->value), nullptr, nullptr});
  return Json::array({rounded(ratio->value), rounded(ratio->bounds->lo), rounded(ratio->bounds->hi)});
}

// What a ratio is called in single rows: of times where less is better, else of rates.
Json plain_ratio(const std::optional<Ratio>& ratio, Figure figure) {
  if (!ratio) return {};
  return rounded(figure == Figure::time ? ratio->value : 1 / ratio->value);
}

template <typename Value>
Json list_of(const Entry& entry, Value&& value) {
  Json list = Json::array();
  for (const Sample& sample : entry.samples) list.push_back(value(sample));
  return list;
}

void add_subject(Json& row, const Line& line, const Entry& entry) {
  row["schema"] = schema;
  row["op"] = line.where.op;
  row["transport"] = line.where.transport;
  row["ranks"] = line.where.ranks;
  row["bytes"] = line.bytes;
  row["system"] = entry.system;
}

void add_figures(Json& row, const Line& line, const Entry& entry) {
  const Figure figure = operation(line.where.op).figure;
  const bool is_rate = figure != Figure::time;
  row["rounds"] = entry.samples.size();
  row["median_us"] = entry.has_figures() ? rounded(entry.median_us) : Json();
  row["p99_us"] = json_of(entry.p99_us);
  row["lo_us"] = entry.has_figures() ? rounded(entry.lo_us) : Json();
  row["hi_us"] = entry.has_figures() ? rounded(entry.hi_us) : Json();
  const auto rate = [&](Figure which) -> Json {
    if (!is_rate || !entry.has_figures()) return {};
    return rounded(figure_of(which, line.bytes, entry.median_us));
  };
  row["mb_per_s"] = rate(Figure::bandwidth);
  row["msg_per_s"] = is_rate && entry.has_figures() ? rounded(1e6 / entry.median_us) : Json();
}

// Of collectives that move something.
void add_bandwidths(Json& row, const Line& line, const Entry& entry) {
  const Op op = op_named(line.where.op);
  row["alg_mb_per_s"] = Json();
  row["bus_mb_per_s"] = Json();
  if (!is_collective(op) || op == Op::barrier || !entry.has_figures()) return;
  const double mb_per_s = algorithm_mb_per_s(op, line.bytes, line.where.ranks, entry.median_us);
  row["alg_mb_per_s"] = rounded(mb_per_s);
  row["bus_mb_per_s"] = rounded(mb_per_s * bus_factor(op, line.where.ranks));
}

void add_comparison(Json& row, const Line& line, const Entry& entry) {
  const Figure figure = operation(line.where.op).figure;
  const bool is_own = entry.system == library_name;
  const Entry* const bound = line.find(limit_name);
  const bool has_limit = is_own && bound != nullptr && bound->has_figures();
  const bool is_rate = figure != Figure::time;
  const std::optional<Ratio> none;
  row["limit_us"] = has_limit && !is_rate ? rounded(bound->median_us) : Json();
  row["limit_mb_per_s"] =
      has_limit && is_rate ? rounded(figure_of(Figure::bandwidth, line.bytes, bound->median_us)) : Json();
  row["probe_ns"] = rounded(line.probe_ns);
  row["ratio_to_limit"] = plain_ratio(is_own ? line.to_limit : none, figure);
  row["ratio_to_best_peer"] = plain_ratio(is_own ? line.to_peer : none, figure);
  row["core_share"] = json_of(entry.core_share);
  row["rounds_left_out"] = entry.left_out;
  row["p999_us"] = json_of(entry.p999_us);
  row["buffers"] = line.where.rewritten ? "rewritten" : "kept";
  row["void"] = entry.void_reason ? Json(*entry.void_reason) : Json();
  add_bandwidths(row, line, entry);
  row["wrong"] = entry.wrong ? Json(*entry.wrong) : Json();
  row["device"] = "cpu";
  row["limit_void"] = is_own && bound != nullptr && bound->void_reason ? Json(*bound->void_reason) : Json();
  row["arena"] = line.where.arena;
  row["mode"] = line.mode ? Json(to_string(*line.mode)) : Json();
  row["disturbed"] = line.disturbed;
  row["best_peer"] = is_own && line.best_peer ? Json(*line.best_peer) : Json();
  row["time_to_best_peer"] = json_of(is_own ? line.to_peer : none);
  row["time_to_limit"] = json_of(is_own ? line.to_limit : none);
}

void add_samples(Json& row, const Line& line, const Entry& entry) {
  row["samples_us"] = list_of(entry, [](const Sample& one) { return rounded(one.us); });
  row["samples_round"] = list_of(entry, [](const Sample& one) { return one.round; });
  row["samples_probe_ns"] = list_of(entry, [](const Sample& one) { return rounded(one.probe_ns); });
  if (entry.system != library_name) return;
  // Of the same launches, where the limit is sound in them.
  const Entry* const bound = line.find(limit_name);
  row["samples_limit_us"] = list_of(entry, [&](const Sample& one) -> Json {
    if (bound == nullptr) return {};
    for (const Sample& other : bound->samples)
      if (other.round == one.round) return rounded(other.us);
    return {};
  });
}

Json row_of(const Line& line, const Entry& entry) {
  Json row;
  add_subject(row, line, entry);
  add_figures(row, line, entry);
  add_comparison(row, line, entry);
  return row;
}

// A field of a table; in quotes where it would be taken for more than one.
std::string csv_field(const Json& value) {
  if (value.is_null()) return {};
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + "\"";
}

// The three numbers of a ratio become columns.
void spread_ratio(Json& row, const char* field) {
  const Json ratio = row[field];
  row.erase(field);
  const std::string name = field;
  row[name] = ratio.is_null() ? Json() : ratio[0];
  row[name + "_lo"] = ratio.is_null() ? Json() : ratio[1];
  row[name + "_hi"] = ratio.is_null() ? Json() : ratio[2];
}

}  // namespace

std::string json_rows_of(const Study& study) {
  std::string text;
  for (const Line& line : study.lines) {
    for (const Entry& entry : line.entries) {
      Json row = row_of(line, entry);
      add_samples(row, line, entry);
      text += row.dump() + "\n";
    }
  }
  return text;
}

std::string csv_of(const Study& study) {
  std::string text;
  for (const Line& line : study.lines) {
    for (const Entry& entry : line.entries) {
      Json row = row_of(line, entry);
      spread_ratio(row, "time_to_best_peer");
      spread_ratio(row, "time_to_limit");
      std::string header;
      std::string fields;
      for (const auto& [name, value] : row.items()) {
        header += (header.empty() ? "" : ",") + name;
        fields += (fields.empty() ? "" : ",") + csv_field(value);
      }
      if (text.empty()) text = header + "\r\n";
      text += fields + "\r\n";
    }
  }
  return text;
}

}  // namespace parley::bench::compare
