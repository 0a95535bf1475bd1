#pragma once

#include <optional>
#include <string>

#include "bench/compare/sample.h"

namespace parley::bench::compare {

// Why the limit in this sample is none, in words: what the contender says, or the floor of
// bench/limits/limit_floor.h; nothing when it is sound, or there is none. `cores` are those that the ranks
// share.
std::optional<std::string> limit_void_reason(const Sample& sample, int cores);

// Why the whole sample is void: what the contender says, or the machine's known range (bench/limits/floor.h).
std::optional<std::string> sample_void_reason(const Sample& sample, int cores);

}  // namespace parley::bench::compare
