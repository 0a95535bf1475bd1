#include "bench/limits/limit_floor.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/limits/floor.h"
#include "bench/plan.h"

namespace parley::bench {
namespace {

// A message in one cache line costs about what the flag of the probe does: 0.7 times of it were seen. A loop
// that yields takes 5 times as long, one that sleeps 100 times.
constexpr double quickest_cell_probes = 0.3;
constexpr double slowest_cell_probes = 4;
constexpr std::size_t cell_bytes = 48;

// One way over loopback with busy polling: 3 to 9 us. Readers that sleep need 35 and more.
constexpr double quickest_loopback_us = 0.5;
constexpr double slowest_loopback_us = 25;
constexpr std::size_t loopback_bytes = 1024;

// No loop moves bytes faster than twice what memcpy does within a cache.
constexpr double most_memcpys = 2;

// Nor does the best one move them much slower than by two memcpys, into a slot and out of it: the slowest
// that was seen took 1.5 times as long over shared memory (16 MiB, which no cache holds), and over loopback,
// where the kernel copies, finds pages and counts, 5 times (64 KiB). The rest is room for machines with
// slower memory.
constexpr double slowest_shm_copies = 2 * 8;
constexpr double slowest_loopback_copies = 2 * 16;

double pairs_of(const RawFigure& figure) {
  return std::max(figure.ranks / 2, 1);
}

int directions_of(const RawFigure& figure) {
  return operation(figure.op).traffic == Traffic::both_ways ? 2 : 1;
}

// Of a round in which it took longer the probe tells of no cores, but of a stolen one (floor.h).
double most_probe_ns(const Reference& reference) {
  return std::min(reference.most_probe_ns, slowest_probe_ns);
}

// Each sends the other one line, which takes as long as one hop.
bool is_exchange_of_two(const RawFigure& figure) {
  return figure.op == Op::all_reduce && figure.ranks == 2;
}

// A ping-pong of messages that are next to nothing but a hop: known best.
std::optional<std::string> cell_void_reason(const RawFigure& figure, const Reference& reference) {
  if (!figure.over_shm || figure.bytes > cell_bytes || reference.most_probe_ns <= 0) return std::nullopt;
  const double ns = figure.us * 1000;
  if (ns <= slowest_cell_probes * most_probe_ns(reference) &&
      ns >= quickest_cell_probes * reference.least_probe_ns)
    return std::nullopt;
  return fmt::format(
      "the raw loop took {:.0f} ns for {} B and the flag probe {:.0f} ns: a loop that spins takes "
      "{:.1f} to {:.0f} times the probe",
      ns, figure.bytes, most_probe_ns(reference), quickest_cell_probes, slowest_cell_probes);
}

std::optional<std::string> loopback_void_reason(const RawFigure& figure) {
  if (figure.over_shm || figure.bytes > loopback_bytes) return std::nullopt;
  if (figure.us <= slowest_loopback_us && figure.us >= quickest_loopback_us) return std::nullopt;
  return fmt::format("the raw socket took {:.1f} us for {} B: one that polls takes {:.1f} to {:.0f} us",
                     figure.us, figure.bytes, quickest_loopback_us, slowest_loopback_us);
}

// Hops of one message, at most. In windows over shared memory a cell may travel by itself, as in a ping-pong,
// when the reader is as quick as the writer: 0.3 were seen. A socket's window travels as a stream: it costs
// its own hop and that of its answer, for all of its messages.
double most_hops(const RawFigure& figure) {
  if (figure.over_shm || !is_windowed(figure.op)) return 1;
  return 2.0 / (window_for(figure.op, figure.bytes) * directions_of(figure));
}

// All other sizes, and windows: a hop and two copies. A loop that sleeps is beyond that as long as its
// messages, or its windows, take much less time than a sleep.
std::optional<std::string> slow_void_reason(const RawFigure& figure, const Reference& reference) {
  if (reference.memcpy_gb_per_s <= 0 || (figure.over_shm && reference.most_probe_ns <= 0))
    return std::nullopt;
  const double hop_us =
      figure.over_shm ? slowest_cell_probes * most_probe_ns(reference) / 1000 : slowest_loopback_us;
  // The pairs share the machine's memory.
  const double copies = (figure.over_shm ? slowest_shm_copies : slowest_loopback_copies) * pairs_of(figure);
  const double copy_us = static_cast<double>(figure.bytes) / reference.memcpy_gb_per_s / 1000;
  const double most_us = most_hops(figure) * hop_us + copies * copy_us;
  if (figure.us <= most_us) return std::nullopt;
  return fmt::format(
      "the raw loop took {:.2f} us for {} B, and by the run's own hops ({:.2f} us at most) and memcpy "
      "({:.0f} "
      "GB/s) no more than {:.2f}: it did not spin",
      figure.us, figure.bytes, hop_us, reference.memcpy_gb_per_s, most_us);
}

std::optional<std::string> quick_void_reason(const RawFigure& figure, const Reference& reference) {
  if (reference.memcpy_gb_per_s <= 0) return std::nullopt;
  // Both directions, and each pair of ranks, copy by themselves; messages of all of them count.
  const double copiers = directions_of(figure) * pairs_of(figure);
  const double gb_per_s = static_cast<double>(figure.bytes) / figure.us / 1000;
  if (gb_per_s <= most_memcpys * copiers * reference.memcpy_gb_per_s) return std::nullopt;
  return fmt::format("the raw loop moved {:.0f} GB/s and memcpy {:.0f} GB/s: it does not move the bytes",
                     gb_per_s, reference.memcpy_gb_per_s);
}

}  // namespace

RawFigure raw_figure_of(const Row& limit) {
  return {limit.subject.op, limit.subject.transport == "shm", limit.subject.ranks, limit.subject.bytes,
          limit.median_us};
}

std::optional<std::string> limit_void_reason(const RawFigure& figure, const Reference& reference) {
  if (!figure.over_shm && (is_collective(figure.op) || figure.op == Op::message_rate)) return std::nullopt;
  if (reference.has_cores && (!is_collective(figure.op) || is_exchange_of_two(figure))) {
    if (!is_windowed(figure.op)) {
      if (auto reason = cell_void_reason(figure, reference)) return reason;
      if (auto reason = loopback_void_reason(figure)) return reason;
    }
    if (auto reason = is_collective(figure.op) ? std::nullopt : slow_void_reason(figure, reference))
      return reason;
  }
  return quick_void_reason(figure, reference);
}

}  // namespace parley::bench
