#pragma once

#include <parley/process_group.h>

#include <cstdint>

namespace parley::testing {

// Traffic without an end, in which every rank needs every other sooner or later.
enum class Traffic {
  ring,         // to the rank above, from the rank below, at once
  permutation,  // each round another random partner on either side
  all_to_all,   // everybody with everybody at once
  barriers,     // nothing but barriers
  any_source,   // to random ranks, received from any source
};

[[nodiscard]] const char* name_of(Traffic traffic);

// Never returns; throws what the library throws. Sizes are 8 B to 1 MiB. All ranks use the same seed.
[[noreturn]] void run_traffic(ProcessGroup& world, Traffic traffic, std::uint64_t seed);

}  // namespace parley::testing
