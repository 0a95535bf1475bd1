#include "bench/limits/floor.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "bench/statistics.h"
#include "bench/stopwatch.h"

namespace parley::bench {
namespace {

constexpr std::size_t copied_bytes = 64 * 1024;
constexpr int batches = 8;
constexpr int copies_of_a_batch = 32;

// Whole pages: some cores (AMD's of the third Zen generation) take more than ten times as long for a string
// instruction whose two ends are a few bytes apart, modulo a page. That is no machine that is short of time.
struct alignas(4096) Block {
  std::array<std::uint8_t, copied_bytes> bytes;
};

}  // namespace

double measure_memcpy_gb_per_s() {
  auto from = std::make_unique<Block>();
  auto to = std::make_unique<Block>();
  from->bytes.fill(1);
  to->bytes.fill(2);
  std::vector<double> gb_per_s;
  for (int batch = 0; batch <= batches; ++batch) {
    const Stopwatch watch;
    for (int i = 0; i < copies_of_a_batch; ++i) {
      // Another byte each time, read in the end: no copy can be left out.
      from->bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(batch + 1);
      std::memcpy(to->bytes.data(), from->bytes.data(), copied_bytes);
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
