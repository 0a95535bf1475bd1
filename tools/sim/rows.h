#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace parley::sim {

// One time that parley-bench measured.
struct Row {
  std::string op;         // as parley-bench names it
  bool is_shared = true;  // shared memory; else TCP
  std::uint32_t ranks = 2;
  std::uint64_t bytes = 0;
  double ns = 0;  // of a message, one way, or of a call
};

struct Rows {
  std::vector<Row> rows;
  std::vector<std::string> left_out;  // "3 rows of raw: another system", for readers
};

// Rows of Parley between buffers of the host, of the operations that can be predicted: latency, bandwidth,
// message-rate, collectives. Others are left out and counted: other systems, void rows, rows in which a core
// was taken or ranks shared one. Throws UsageError, which names `file` and the line, for what is no row, and
// where nothing is left.
Rows read_rows(std::istream& stream, std::string_view file);

}  // namespace parley::sim
