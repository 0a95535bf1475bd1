#pragma once

#include <optional>
#include <string>

#include "bench/compare/sample.h"

namespace parley::bench::compare {

// A raw loop is a limit only while it is one: it spins, and it moves the bytes. What such loops can do is
// known from the run's own flag probe and memcpy; a limit out of that range voids itself.

// A message in one cache line costs about what the flag of the probe does: 0.7 times of it were seen. A loop
// that yields takes 5 times as long, one that sleeps 100 times.
inline constexpr double quickest_cell_probes = 0.3;
inline constexpr double slowest_cell_probes = 4;
inline constexpr std::size_t cell_bytes = 48;
// One way over loopback with busy polling: 5 to 9 us. Readers that sleep need 35 and more.
inline constexpr double slowest_loopback_us = 25;
inline constexpr double quickest_loopback_us = 0.5;
inline constexpr std::size_t loopback_bytes = 1024;
// No loop moves bytes faster than twice what memcpy does within a cache.
inline constexpr double most_memcpys = 2;

// Why the limit in this sample is none, in words; nothing when it is sound, or there is none.
// `cores` are those that the ranks share: when there are fewer, the loops yield and only the bytes tell.
std::optional<std::string> limit_void_reason(const Sample& sample, int cores);

// Why the whole sample is void: what the contender says, or the machine's known range (bench/limits/floor.h).
std::optional<std::string> sample_void_reason(const Sample& sample, int cores);

}  // namespace parley::bench::compare
