#include "bench/compare/floor.h"

#include <fmt/format.h>

#include "bench/limits/floor.h"

namespace parley::bench::compare {
namespace {

bool is_ping_pong(const Sample& sample) {
  return sample.where.op == "latency";
}

std::optional<std::string> cell_void_reason(const Sample& sample) {
  if (!is_ping_pong(sample) || sample.where.transport != "shm") return std::nullopt;
  if (sample.bytes > cell_bytes || sample.probe_ns <= 0) return std::nullopt;
  const double probes = *sample.limit_us * 1000 / sample.probe_ns;
  if (probes <= slowest_cell_probes && probes >= quickest_cell_probes) return std::nullopt;
  return fmt::format(
      "the raw loop took {:.0f} ns for {} B and the flag probe {:.0f} ns: a loop that spins takes "
      "{:.1f} to {:.0f} times the probe",
      *sample.limit_us * 1000, sample.bytes, sample.probe_ns, quickest_cell_probes, slowest_cell_probes);
}

std::optional<std::string> loopback_void_reason(const Sample& sample) {
  if (!is_ping_pong(sample) || sample.where.transport != "tcp" || sample.bytes > loopback_bytes)
    return std::nullopt;
  if (*sample.limit_us <= slowest_loopback_us && *sample.limit_us >= quickest_loopback_us)
    return std::nullopt;
  return fmt::format("the raw socket took {:.1f} us for {} B: one that polls takes {:.1f} to {:.0f} us",
                     *sample.limit_us, sample.bytes, quickest_loopback_us, slowest_loopback_us);
}

std::optional<std::string> memcpy_void_reason(const Sample& sample) {
  if (sample.memcpy_gb_per_s <= 0) return std::nullopt;
  // Both directions, and each pair of ranks, copy by themselves; messages of all of them count.
  const double copiers = operation(sample.where.op).directions * sample.where.ranks / 2.0;
  const double gb_per_s = static_cast<double>(sample.bytes) / *sample.limit_us / 1000;
  if (gb_per_s <= most_memcpys * copiers * sample.memcpy_gb_per_s) return std::nullopt;
  return fmt::format("the raw loop moved {:.0f} GB/s and memcpy {:.0f} GB/s: it does not move the bytes",
                     gb_per_s, sample.memcpy_gb_per_s);
}

bool has_cores(const Sample& sample, int cores) {
  return sample.where.ranks <= cores;
}

}  // namespace

std::optional<std::string> limit_void_reason(const Sample& sample, int cores) {
  if (!sample.limit_us) return std::nullopt;
  if (has_cores(sample, cores)) {
    if (auto reason = cell_void_reason(sample)) return reason;
    if (auto reason = loopback_void_reason(sample)) return reason;
  }
  return memcpy_void_reason(sample);
}

std::optional<std::string> sample_void_reason(const Sample& sample, int cores) {
  if (sample.void_reason) return sample.void_reason;
  const double trusted_probe_ns = has_cores(sample, cores) ? sample.probe_ns : 0;
  // Samples without a memcpy are not measured here but read.
  const double trusted_gb_per_s =
      sample.memcpy_gb_per_s > 0 ? sample.memcpy_gb_per_s : slowest_memcpy_gb_per_s;
  return void_reason(trusted_probe_ns, trusted_gb_per_s);
}

}  // namespace parley::bench::compare
