#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bench/devices/device_choice.h"
#include "bench/op.h"
#include "bench/series.h"

namespace parley::bench {

// Name and version of the rows below. The version grows when a field changes its meaning or goes away, not
// when one is added.
inline constexpr const char* schema = "parley-bench/1";

// What all rows of one size share.
struct Subject {
  Op op = Op::latency;
  std::string transport;
  int ranks = 2;
  std::size_t bytes = 0;
  bool rewritten = false;  // the senders' buffers, before each exchange
  DeviceChoice devices = {};
};

// One measured figure; the fields are those of the JSON schema in README.md, in its order. Nothing: does not
// apply.
struct Row {
  Subject subject;
  std::string system;
  int rounds = 0;
  double median_us = 0;
  std::optional<double> p99_us;
  std::optional<double> p999_us;
  double lo_us = 0;
  double hi_us = 0;
  std::optional<double> mb_per_s;
  std::optional<double> msg_per_s;
  std::optional<double> limit_us;
  std::optional<double> limit_mb_per_s;
  double probe_ns = 0;
  std::optional<double> ratio_to_limit;
  std::optional<double> core_share;
  int rounds_left_out = 0;
  std::optional<std::string> void_reason;    // why nothing in this row can be used
  std::optional<double> algorithm_mb_per_s;  // see bandwidth.h
  std::optional<double> bus_mb_per_s;
  std::optional<std::size_t> wrong;              // elements, of all turns and ranks
  std::optional<std::string> limit_void_reason;  // why its limit is none
};

// A row of `system`, without anything it is compared with; nothing was left out. REQUIRES: a round in
// `series`.
Row make_row(const Subject& subject, std::string system, const Series& series, double probe_ns);

// Fills in the limit: what the raw system reached for the same subject in the same rounds.
void compare_with_limit(Row& row, const Row& limit);

// Comment lines for what is void; empty when nothing is.
std::string void_notes(const Row& row);

// One JSON object without a line end.
std::string to_json(const Row& row);

}  // namespace parley::bench
