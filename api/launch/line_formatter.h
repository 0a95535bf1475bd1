#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace parley::launch {

// Cuts a stream of bytes into lines and puts a prefix before each. Pure: no I/O. Thread-safety: none.
//
// A line leaves whole, or not yet. Two cases need a rule:
//   a line longer than `longest_line_bytes` leaves in pieces of that size, each a line of its own;
//   the last line, if no newline ends it, gets one.
// With an empty prefix nothing is added to the stream, not even these newlines.
class LineFormatter {
 public:
  static constexpr std::size_t longest_line_bytes = std::size_t{64} * 1024;

  explicit LineFormatter(std::string prefix) : prefix_(std::move(prefix)) {}

  // Appends to `out` the lines that `bytes` completes.
  void feed(std::string_view bytes, std::string& out);
  // The stream has ended: appends what is left.
  void finish(std::string& out);

 private:
  void emit(std::string_view line, bool complete, std::string& out) const;

  std::string prefix_;
  std::string partial_;  // the beginning of a line whose end has not arrived
};

}  // namespace parley::launch
