#include "bench/table.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "bench/series.h"
#include "bench/sizes.h"

namespace parley::bench {
namespace {

// What is missing prints as "nan".
double number(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

// A clause of the note below; nothing when the turns were undisturbed.
void append_share(std::string& clauses, const Row& row, const char* turns) {
  if (!row.core_share || *row.core_share >= undisturbed_share) return;
  clauses += clauses.empty() ? "" : ", ";
  clauses += fmt::format("{:.0f} % in {} turns", *row.core_share * 100, turns);
}

// Widths of a collective's columns: where there is a limit, systems have longer names.
constexpr int ratio_columns = 10;
constexpr int name_columns(bool has_limit) noexcept {
  return has_limit ? 30 : 10;
}

}  // namespace

std::string table_header(Op op) {
  if (!is_windowed(op)) {
    return "# one way, microseconds; raw: busy-poll TCP ping-pong without a library in the same rounds\n" +
           fmt::format("{:<8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>10}{:>10}\n", "# Size", "Latency",
                       "p99", "p99.9", "min", "max", "raw", "raw p99.9", "x raw", "probe_ns");
  }
  if (op == Op::message_rate) {
    return "# messages/s; raw: one system call per message without a library in the same rounds, no limit\n" +
           fmt::format("{:<8}{:>14}{:>12}{:>14}{:>10}\n", "# Size", "Message rate", "MB/s", "raw",
                       "probe_ns");
  }
  const char* const raw = operation(op).traffic == Traffic::windows
                              ? "TCP stream with a spinning reader"
                              : "TCP streams both ways at once, both counted,";
  return fmt::format("# MB/s (1e6 bytes); raw: {} without a library in the same rounds\n", raw) +
         fmt::format("{:<8}{:>12}{:>14}{:>12}{:>10}{:>10}\n", "# Size", "Bandwidth", "messages/s", "raw",
                     "x raw", "probe_ns");
}

std::string table_line(const Row& row, const Row& raw) {
  const std::string size = format_size(row.subject.bytes);
  if (!is_windowed(row.subject.op)) {
    return fmt::format(
        "{:<8}{:>12.2f}{:>12.2f}{:>12.2f}{:>12.2f}{:>12.2f}{:>12.2f}{:>12.2f}{:>10.3f}{:>10.0f}\n", size,
        row.median_us, number(row.p99_us), number(row.p999_us), row.lo_us, row.hi_us, raw.median_us,
        number(raw.p999_us), number(row.ratio_to_limit), row.probe_ns);
  }
  if (row.subject.op == Op::message_rate) {
    return fmt::format("{:<8}{:>14.0f}{:>12.2f}{:>14.0f}{:>10.0f}\n", size, number(row.msg_per_s),
                       number(row.mb_per_s), number(raw.msg_per_s), row.probe_ns);
  }
  return fmt::format("{:<8}{:>12.2f}{:>14.0f}{:>12.2f}{:>10.3f}{:>10.0f}\n", size, number(row.mb_per_s),
                     number(row.msg_per_s), number(raw.mb_per_s), number(row.ratio_to_limit), row.probe_ns);
}

std::string disturbance_note(const Row& parley, const Row& raw) {
  std::string shares;
  append_share(shares, parley, "the library's");
  append_share(shares, raw, "the raw");
  const std::string voids = void_notes(parley);
  if (!shares.empty()) {
    return voids + "# DISTURBED: a rank had its core for as little as " + shares +
           "; do not use this line or its ratio\n";
  }
  if (parley.rounds_left_out == 0) return voids;
  return voids + fmt::format("# {} of {} rounds left out: something else used the core of a rank\n",
                             parley.rounds_left_out, parley.rounds + parley.rounds_left_out);
}

std::string collective_header(bool has_limit) {
  return "# microseconds per call; bandwidths in MB/s (1e6 bytes) as nccl-tests define them\n" +
         fmt::format("{:<8}{:<{}}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>8}{:>10}{:>{}}\n", "# Size", "System",
                     name_columns(has_limit), "time", "p99", "min", "max", "algbw", "busbw", "#wrong",
                     "probe_ns", has_limit ? "x limit" : "", has_limit ? ratio_columns : 0);
}

std::string collective_line(const Row& row) {
  const bool has_limit = row.ratio_to_limit.has_value();
  std::string text =
      fmt::format("{:<8}{:<{}}{:>12.3f}{:>12.3f}{:>12.3f}{:>12.3f}{:>12.1f}{:>12.1f}{:>8}{:>10.0f}",
                  format_size(row.subject.bytes), row.system, name_columns(has_limit), row.median_us,
                  number(row.p99_us), row.lo_us, row.hi_us, number(row.algorithm_mb_per_s),
                  number(row.bus_mb_per_s), row.wrong.value_or(0), row.probe_ns);
  if (has_limit) text += fmt::format("{:>{}.3f}", *row.ratio_to_limit, ratio_columns);
  text += '\n';
  std::string share;
  append_share(share, row, "its");
  if (!share.empty())
    text += "# DISTURBED: a rank had its core for as little as " + share + "; do not use this line\n";
  if (row.void_reason) text += "# VOID: " + *row.void_reason + "; do not use this line\n";
  return text;
}

}  // namespace parley::bench
