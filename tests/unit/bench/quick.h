#pragma once

#include "bench/options.h"

namespace parley::bench {

// Of measurements whose figures do not count.
inline Options quick(Op op) {
  Options options;
  options.op = op;
  options.rounds = 2;
  options.round_ms = 0.01;
  return options;
}

}  // namespace parley::bench
