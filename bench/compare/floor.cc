#include "bench/compare/floor.h"

#include "bench/limits/floor.h"
#include "bench/limits/limit_floor.h"

namespace parley::bench::compare {
namespace {

bool has_cores(const Sample& sample, int cores) {
  return sample.where.ranks <= cores;
}

}  // namespace

std::optional<std::string> limit_void_reason(const Sample& sample, int cores) {
  if (!sample.limit_us) return std::nullopt;
  if (sample.limit_void_reason) return sample.limit_void_reason;
  const RawFigure figure{op_named(sample.where.op), sample.where.transport == "shm", sample.where.ranks,
                         sample.bytes, *sample.limit_us};
  return bench::limit_void_reason(
      figure, {sample.probe_ns, sample.probe_ns, sample.memcpy_gb_per_s, has_cores(sample, cores)});
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
