#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "bench/op.h"
#include "bench/row.h"

namespace parley::bench {

// The transports that are measured side by side, in the order of their columns and of their turns.
inline constexpr std::array<std::string_view, 2> compared_transports{"shm", "tcp"};

// A table of both transports: for each size Parley, its limit and the ratio over shared memory, then the same
// over TCP. Made of JSON rows (README.md) as they are measured. Pure. Thread-safety: none.
class TransportTable {
 public:
  explicit TransportTable(Op op) : op_(op) {}

  // Two lines that say what the columns are.
  [[nodiscard]] std::string header() const;

  // Takes in a row; the line of its size when that is its last one, with comments for what must be known
  // about it, else "". A size's last row is the raw one over TCP. Throws nlohmann::json::exception for what
  // is no row.
  std::string add(std::string_view json);

 private:
  [[nodiscard]] std::string columns_of(std::string_view transport) const;
  [[nodiscard]] std::string notes_of(std::string_view transport) const;

  Op op_;
  std::vector<Row> rows_;  // of the size at hand
};

}  // namespace parley::bench
