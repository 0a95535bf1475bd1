#pragma once

#include <optional>
#include <string>

namespace parley::bench {

// What this machine does without anybody's loop. A run in which even that is out of the known range measures
// something else: a debugger, a stolen core, a build without optimisation.

// A flag takes 50 to 300 ns between two cores that both run.
inline constexpr double slowest_probe_ns = 1000;
// Machines of this century copy 64 KiB at 10 GB/s and more.
inline constexpr double slowest_memcpy_gb_per_s = 5;

// Copies 64 KiB to and fro for about 1 ms; 1e9 bytes a second.
double measure_memcpy_gb_per_s();

// Why a run with these medians is void, in words; nothing when it is not.
std::optional<std::string> void_reason(double probe_ns, double memcpy_gb_per_s);

}  // namespace parley::bench
