#include "api/schedule/symmetry.h"

#include <bit>

#include "api/schedule/rounds.h"
#include "api/schedule/two_level.h"

namespace parley::schedule {
namespace {

using Kind = Symmetry::Kind;

// Ranks of each host where hosts are runs of equally many, in order; else 0.
std::uint32_t ranks_of_each_host(const Shape& shape) noexcept {
  if (shape.hosts.empty()) return shape.size;
  std::uint32_t run = 1;
  while (run < shape.size && shape.hosts[run] == shape.hosts[0]) ++run;
  if (shape.size % run != 0) return 0;
  for (std::uint32_t rank = run; rank < shape.size; ++rank) {
    const bool begins = rank % run == 0;
    if (begins ? shape.hosts[rank] <= shape.hosts[rank - 1] : shape.hosts[rank] != shape.hosts[rank - 1])
      return 0;
  }
  return run;
}

Symmetry exchange(std::uint32_t size, std::uint32_t unit) noexcept {
  return std::has_single_bit(size / unit) ? Symmetry{Kind::exchange, unit} : Symmetry{};
}

// All of these have no root.
Symmetry of_ranks(Operation operation, Algorithm algorithm, std::uint32_t size) noexcept {
  if (has_root(operation) || operation == Operation::scan || operation == Operation::exscan) return {};
  switch (algorithm) {
    case Algorithm::linear: return operation == Operation::barrier ? Symmetry{} : Symmetry{Kind::rotation, 1};
    case Algorithm::ring:
    case Algorithm::segmented_ring:
    case Algorithm::bruck:
    case Algorithm::pairwise:
    case Algorithm::dissemination: return {Kind::rotation, 1};
    case Algorithm::recursive_doubling:
    case Algorithm::recursive_halving:
    case Algorithm::rabenseifner: return exchange(size, 1);
    default: return {};
  }
}

Symmetry of_hosts(Operation operation, std::uint32_t size, std::uint32_t unit) noexcept {
  if (unit == 0 || unit == size) return {};
  switch (operation) {
    case Operation::all_reduce: return exchange(size, unit);
    case Operation::all_gather:
    case Operation::barrier: return {Kind::rotation, unit};
    default: return {};
  }
}

// Into how many blocks a vector is cut, one after the other.
std::uint64_t blocks_of(Operation operation, Algorithm algorithm, const Shape& shape) {
  if (operation != Operation::all_reduce) return 1;
  switch (algorithm) {
    case Algorithm::ring:
    case Algorithm::segmented_ring:
    case Algorithm::pairwise:
    case Algorithm::rabenseifner: return shape.size;
    case Algorithm::two_level_sliced: {
      const std::uint32_t unit = ranks_of_each_host(shape);
      return unit == 0 ? 1 : shape.size;  // slices by the ranks of a host, and those by the hosts
    }
    default: return 1;
  }
}

}  // namespace

std::uint32_t moved(const Symmetry& symmetry, std::uint32_t size, std::uint32_t rank,
                    std::uint32_t distance) noexcept {
  const std::uint32_t block = rank / symmetry.unit, place = rank % symmetry.unit;
  const std::uint32_t to =
      symmetry.kind == Kind::exchange ? block ^ distance : (block + distance) % (size / symmetry.unit);
  return to * symmetry.unit + place;
}

std::uint32_t distance_between(const Symmetry& symmetry, std::uint32_t size, std::uint32_t from,
                               std::uint32_t to) noexcept {
  const std::uint32_t begin = from / symmetry.unit, end = to / symmetry.unit, units = size / symmetry.unit;
  return symmetry.kind == Kind::exchange ? begin ^ end : (end + units - begin) % units;
}

Symmetry symmetry(Operation operation, Algorithm algorithm, const Shape& shape) {
  if (!shape.counts.empty() || shape.size < 2) return {};
  if (shape.count % blocks_of(operation, algorithm, shape) != 0) return {};
  if (looks_at_hosts(algorithm)) return of_hosts(operation, shape.size, ranks_of_each_host(shape));
  return of_ranks(operation, algorithm, shape.size);
}

std::uint64_t even_count(Operation operation, Algorithm algorithm, const Shape& shape) {
  const std::uint64_t blocks = blocks_of(operation, algorithm, shape);
  return divide_up(shape.count, blocks) * blocks;
}

}  // namespace parley::schedule
