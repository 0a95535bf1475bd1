#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "bench/options.h"
#include "bench/raw_link.h"

namespace parley::bench {

// What a raw loop does when it has nothing to do: what `idle` says, unless PARLEY_BENCH_NO_SPIN=1 makes it
// sleep. There is one reason to set that: tests of the floor (limits/floor.h), which must void such a loop.
// Throws CommandLineError.
inline Idle idle_of_raw_loops(Idle idle) {
  const char* const word = std::getenv("PARLEY_BENCH_NO_SPIN");
  if (word == nullptr) return idle;
  if (std::string_view(word) == "1") return Idle::sleep;
  throw CommandLineError(std::string("PARLEY_BENCH_NO_SPIN=") + word + ": write 1, or leave it unset");
}

}  // namespace parley::bench
