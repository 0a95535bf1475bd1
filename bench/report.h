#pragma once

#include <fstream>
#include <string>

#include "bench/row.h"

namespace parley::bench {

// Where rank 0 puts its rows: the table on stdout, the JSON file when one is wanted. Throws
// std::runtime_error when that cannot be written.
class Report {
 public:
  // No name: no JSON. `has_table`: else nothing is shown.
  explicit Report(const std::string& json_file, bool has_table = true);
  // Shows at once.
  void print(const std::string& text);
  void add_json(const Row& row);
  void add_json(const std::string& row);

 private:
  bool has_table_;
  std::ofstream json_;
};

}  // namespace parley::bench
