#include "bench/limits/floor.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "bench/statistics.h"
#include "bench/stopwatch.h"

namespace parley::bench {
namespace {

constexpr std::size_t copied_bytes = 64 * 1024;
constexpr int batches = 8;
constexpr int copies_of_a_batch = 32;

}  // namespace

double measure_memcpy_gb_per_s() {
  std::vector<std::uint8_t> from(copied_bytes, 1);
  std::vector<std::uint8_t> to(copied_bytes, 2);
  std::vector<double> gb_per_s;
  for (int batch = 0; batch <= batches; ++batch) {
    const Stopwatch watch;
    for (int i = 0; i < copies_of_a_batch; ++i) {
      // Another byte each time, read in the end: no copy can be left out.
      from[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(batch + 1);
      std::memcpy(to.data(), from.data(), copied_bytes);
      std::swap(from, to);
    }
    const double ns = watch.elapsed_us() * 1000;
    // The first one warms up.
    if (batch > 0) gb_per_s.push_back(static_cast<double>(copied_bytes) * copies_of_a_batch / ns);
  }
  return median(gb_per_s);
}

std::optional<std::string> void_reason(double probe_ns, double memcpy_gb_per_s) {
  if (probe_ns > slowest_probe_ns) {
    return fmt::format("a flag took {:.0f} ns between the two cores, more than {:.0f}", probe_ns,
                       slowest_probe_ns);
  }
  if (memcpy_gb_per_s < slowest_memcpy_gb_per_s) {
    return fmt::format("a plain memcpy of 64 KiB ran at {:.1f} GB/s, less than {:.0f}", memcpy_gb_per_s,
                       slowest_memcpy_gb_per_s);
  }
  return std::nullopt;
}

}  // namespace parley::bench
