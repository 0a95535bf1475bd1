#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/compare/operation.h"

namespace parley::bench::compare {

// What one launch of a contender says about one system and one size.
struct Sample {
  Case where;
  std::size_t bytes = 0;
  std::string system;
  int round = 0;
  double us = 0;  // the median over the launch's own rounds, per message or call
  std::optional<double> p99_us;
  std::optional<double> p999_us;
  double probe_ns = 0;  // 0: not told
  std::optional<double> limit_us;
  std::optional<double> core_share;
  std::optional<std::size_t> wrong;              // elements of a collective
  double memcpy_gb_per_s = 0;                    // just before the launch; 0: not known
  std::optional<std::string> void_reason;        // nothing in it can be used
  std::optional<std::string> limit_void_reason;  // the limit cannot
};

// Where rows come from.
struct Origin {
  Case where;
  int round = 0;
  std::string contender;
  std::string program;  // the contender's
  double memcpy_gb_per_s = 0;
};

// Whether a program is a build of parley-bench: all are that are not called peer-NAME.
bool is_parley_bench(const std::string& program);

// Reads rows of the schema parley-bench/1, one JSON object a line. A program's own system, "parley" or the
// NAME of peer-NAME, with or without a suffix, takes the contender's name, so that two builds of one program
// can be compared; where Parley's buffers lie in its arena, so does "parley-arena"; "raw" rows are left out,
// for the library's rows tell the limit. Throws std::runtime_error, in words, for a line that is no such row.
std::vector<Sample> read_rows(const std::string& text, const Origin& origin);

}  // namespace parley::bench::compare
