#include "bench/report.h"

#include <cstdio>
#include <stdexcept>

namespace parley::bench {

Report::Report(const std::string& json_file, bool has_table) : has_table_(has_table) {
  if (json_file.empty()) return;
  json_.open(json_file, std::ios::app);
  if (!json_) throw std::runtime_error("cannot write to " + json_file);
}

void Report::print(const std::string& text) {
  if (!has_table_) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void Report::add_json(const Row& row) {
  add_json(to_json(row));
}

void Report::add_json(const std::string& row) {
  if (!json_.is_open()) return;
  json_ << row << '\n' << std::flush;
  if (!json_) throw std::runtime_error("writing the JSON rows failed (is the disk full?)");
}

}  // namespace parley::bench
