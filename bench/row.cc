#include "bench/row.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/bandwidth.h"
#include "bench/statistics.h"

namespace parley::bench {
namespace {

// Six significant digits: more than any clock here can tell, short enough to read.
double rounded(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

nlohmann::ordered_json json_of(const std::optional<double>& value) {
  if (!value) return nullptr;
  return rounded(*value);
}

}  // namespace

Row make_row(const Subject& subject, std::string system, const Series& series, double probe_ns) {
  Row row;
  row.subject = subject;
  row.system = std::move(system);
  row.rounds = static_cast<int>(series.round_us.size());
  row.median_us = median(series.round_us);
  row.lo_us = smallest(series.round_us);
  row.hi_us = largest(series.round_us);
  row.probe_ns = probe_ns;
  if (!series.tail_us.empty()) {
    row.p99_us = percentile(series.tail_us, 99);
    row.p999_us = percentile(series.tail_us, 99.9);
  }
  if (!series.core_share.empty()) row.core_share = smallest(series.core_share);
  if (is_windowed(subject.op)) {
    // Bytes per microsecond are MB (1e6 bytes) per second.
    row.mb_per_s = static_cast<double>(subject.bytes) / row.median_us;
    row.msg_per_s = 1e6 / row.median_us;
  }
  if (is_collective(subject.op) && subject.op != Op::barrier) {
    row.algorithm_mb_per_s = algorithm_mb_per_s(subject.op, subject.bytes, subject.ranks, row.median_us);
    row.bus_mb_per_s = *row.algorithm_mb_per_s * bus_factor(subject.op, subject.ranks);
  }
  return row;
}

void compare_with_limit(Row& row, const Row& limit) {
  if (is_windowed(row.subject.op)) {
    row.limit_mb_per_s = limit.mb_per_s;
    row.ratio_to_limit = row.mb_per_s.value() / limit.mb_per_s.value();
  } else {
    row.limit_us = limit.median_us;
    row.ratio_to_limit = row.median_us / limit.median_us;
  }
}

std::string void_notes(const Row& row) {
  std::string text;
  if (row.void_reason) text += "# VOID: " + *row.void_reason + "; do not use these lines\n";
  if (row.limit_void_reason)
    text += "# VOID, the limit: " + *row.limit_void_reason + "; do not use its figures or ratios to it\n";
  return text;
}

std::string to_json(const Row& row) {
  nlohmann::ordered_json json;
  json["schema"] = schema;
  json["op"] = to_string(row.subject.op);
  json["transport"] = row.subject.transport;
  json["ranks"] = row.subject.ranks;
  json["bytes"] = row.subject.bytes;
  json["system"] = row.system;
  json["rounds"] = row.rounds;
  json["median_us"] = rounded(row.median_us);
  json["p99_us"] = json_of(row.p99_us);
  json["lo_us"] = rounded(row.lo_us);
  json["hi_us"] = rounded(row.hi_us);
  json["mb_per_s"] = json_of(row.mb_per_s);
  json["msg_per_s"] = json_of(row.msg_per_s);
  json["limit_us"] = json_of(row.limit_us);
  json["limit_mb_per_s"] = json_of(row.limit_mb_per_s);
  json["probe_ns"] = rounded(row.probe_ns);
  json["ratio_to_limit"] = json_of(row.ratio_to_limit);
  json["ratio_to_best_peer"] = nullptr;  // known to comparisons only
  json["core_share"] = json_of(row.core_share);
  json["rounds_left_out"] = row.rounds_left_out;
  json["p999_us"] = json_of(row.p999_us);
  json["buffers"] = row.subject.rewritten ? "rewritten" : "kept";
  json["void"] = row.void_reason ? nlohmann::ordered_json(*row.void_reason) : nullptr;
  json["alg_mb_per_s"] = json_of(row.algorithm_mb_per_s);
  json["bus_mb_per_s"] = json_of(row.bus_mb_per_s);
  json["wrong"] = row.wrong ? nlohmann::ordered_json(*row.wrong) : nullptr;
  json["device"] = to_string(row.subject.devices);
  json["limit_void"] = row.limit_void_reason ? nlohmann::ordered_json(*row.limit_void_reason) : nullptr;
  return json.dump();
}

}  // namespace parley::bench
