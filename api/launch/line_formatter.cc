#include "api/launch/line_formatter.h"

#include <algorithm>

namespace parley::launch {

void LineFormatter::feed(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::size_t end = newline == std::string_view::npos ? bytes.size() : newline + 1;
    const std::size_t taken = std::min(end, longest_line_bytes - partial_.size());
    partial_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    const bool complete = partial_.back() == '\n';
    if (complete || partial_.size() == longest_line_bytes) {
      emit(partial_, complete, out);
      partial_.clear();
    }
  }
}

void LineFormatter::finish(std::string& out) {
  if (!partial_.empty()) emit(partial_, false, out);
  partial_.clear();
}

void LineFormatter::emit(std::string_view line, bool complete, std::string& out) const {
  out += prefix_;
  out += line;
  if (!complete && !prefix_.empty()) out += '\n';
}

}  // namespace parley::launch
