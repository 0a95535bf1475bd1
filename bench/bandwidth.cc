#include "bench/bandwidth.h"

namespace parley::bench {
namespace {

bool has_blocks(Op op) noexcept {
  return op != Op::broadcast && op != Op::reduce && op != Op::all_reduce;
}

}  // namespace

double algorithm_mb_per_s(Op op, std::size_t bytes, int ranks, double us) noexcept {
  // Bytes per microsecond are MB per second.
  return static_cast<double>(bytes) * (has_blocks(op) ? ranks : 1) / us;
}

double bus_factor(Op op, int ranks) noexcept {
  const double others = static_cast<double>(ranks - 1) / ranks;
  if (op == Op::all_reduce) return 2 * others;
  return has_blocks(op) ? others : 1;
}

int crossings(Op op, int ranks) noexcept {
  switch (op) {
    case Op::all_reduce: return 2 * (ranks - 1);
    case Op::all_gather:
    case Op::reduce_scatter:
    case Op::all_to_all: return ranks * (ranks - 1);
    default: return ranks - 1;
  }
}

}  // namespace parley::bench
