#include "bench/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bench/series.h"
#include "bench/sizes.h"

namespace parley::bench {
namespace {

// What comes after a space, if anything does.
std::string appended(std::string_view last) {
  return last.empty() ? "\n" : fmt::format(" {}\n", last);
}

}  // namespace

// Latency in microseconds, else the rate that the operation is about.
double side_by_side_figure(const Row& row, double us) noexcept {
  if (!is_windowed(row.subject.op)) return us;
  return row.subject.op == Op::message_rate ? 1 / us : static_cast<double>(row.subject.bytes) / us;
}

std::string side_by_side_title(Op op) {
  if (!is_windowed(op)) return fmt::format("{}: one way, microseconds", to_string(op));
  if (op == Op::message_rate)
    return "message-rate: millions of messages a second, windows answered by a byte";
  const bool is_one_way = operation(op).traffic == Traffic::windows;
  return fmt::format("{}: MB/s (1e6 bytes), windows {}", to_string(op),
                     is_one_way ? "answered by a byte" : "both ways at once, both counted");
}

std::string side_by_side_header(Op op, std::string_view systems, std::string_view ratio,
                                std::string_view last) {
  std::string text = "# " + side_by_side_title(op) + '\n' +
                     fmt::format("{:<8}{:<22}{:>12}{:>12}{:>12}", "# Size", systems, "median", "min", "max");
  if (!is_windowed(op)) text += fmt::format("{:>12}{:>12}", "p99", "p99.9");
  return text + fmt::format("{:>10}{:>10}", ratio, "probe_ns") + appended(last);
}

std::string side_by_side_line(const Row& row, std::string_view system, std::string_view last) {
  const bool is_rate = is_windowed(row.subject.op);
  const int digits = is_rate && row.subject.op != Op::message_rate ? 0 : 3;
  const double least = side_by_side_figure(row, is_rate ? row.hi_us : row.lo_us);
  const double most = side_by_side_figure(row, is_rate ? row.lo_us : row.hi_us);
  std::string text =
      fmt::format("{:<8}{:<22}{:>12.{}f}{:>12.{}f}{:>12.{}f}", format_size(row.subject.bytes), system,
                  side_by_side_figure(row, row.median_us), digits, least, digits, most, digits);
  if (!is_rate) {
    const double missing = std::numeric_limits<double>::quiet_NaN();
    text += fmt::format("{:>12.3f}{:>12.3f}", row.p99_us.value_or(missing), row.p999_us.value_or(missing));
  }
  return text + fmt::format("{:>10.3f}{:>10.0f}", row.ratio_to_limit.value(), row.probe_ns) + appended(last);
}

std::string side_by_side_notes(std::span<const Row* const> rows) {
  double share = 1;
  for (const Row* row : rows) share = std::min(share, row->core_share.value_or(1));
  const Row& first = *rows.front();
  std::string text;
  if (share < undisturbed_share) {
    text = fmt::format("# DISTURBED: a rank had its core for as little as {:.0f} %; do not use these lines\n",
                       share * 100);
  } else if (first.rounds_left_out > 0) {
    text = fmt::format("# {} of {} rounds left out: something else used the core of a rank\n",
                       first.rounds_left_out, first.rounds + first.rounds_left_out);
  }
  // Of one run, so that all have the same; but the limit may be the library's alone.
  const auto has_note = [](const Row* row) { return !void_notes(*row).empty(); };
  const auto noted = std::find_if(rows.begin(), rows.end(), has_note);
  return noted == rows.end() ? text : text + void_notes(**noted);
}

}  // namespace parley::bench
