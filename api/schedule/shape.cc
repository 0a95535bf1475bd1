#include "api/schedule/shape.h"

#include <algorithm>
#include <map>
#include <set>

namespace parley::schedule {
namespace {

std::uint64_t blocks_before(const Shape& shape, std::uint32_t rank) noexcept {
  if (shape.counts.empty()) return shape.count * rank;
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < rank; ++i) sum += shape.counts[i];
  return sum;
}

}  // namespace

std::uint64_t block_count(const Shape& shape, std::uint32_t rank) noexcept {
  return shape.counts.empty() ? shape.count : shape.counts[rank];
}

std::uint64_t receive_count(const Shape& shape, std::uint32_t rank) noexcept {
  return shape.receive_counts.empty() ? shape.count : shape.receive_counts[rank];
}

std::uint64_t input_count(Operation operation, const Shape& shape) noexcept {
  const bool is_root = shape.rank == shape.root;
  switch (operation) {
    case Operation::broadcast: return is_root ? shape.count : 0;
    case Operation::reduce:
    case Operation::all_reduce:
    case Operation::scan:
    case Operation::exscan: return shape.count;
    case Operation::scatter: return is_root ? blocks_before(shape, shape.size) : 0;
    case Operation::gather:
    case Operation::all_gather: return block_count(shape, shape.rank);
    case Operation::reduce_scatter:
    case Operation::all_to_all: return blocks_before(shape, shape.size);
    case Operation::barrier: return 0;
  }
  return 0;
}

std::uint64_t output_count(Operation operation, const Shape& shape) noexcept {
  const bool is_root = shape.rank == shape.root;
  switch (operation) {
    case Operation::broadcast:
    case Operation::all_reduce:
    case Operation::scan:
    case Operation::exscan: return shape.count;
    case Operation::reduce: return is_root ? shape.count : 0;
    case Operation::scatter:
    case Operation::reduce_scatter: return block_count(shape, shape.rank);
    case Operation::gather: return is_root ? blocks_before(shape, shape.size) : 0;
    case Operation::all_gather: return blocks_before(shape, shape.size);
    case Operation::all_to_all: {
      std::uint64_t sum = 0;
      for (std::uint32_t i = 0; i < shape.size; ++i) sum += receive_count(shape, i);
      return sum;
    }
    case Operation::barrier: return 0;
  }
  return 0;
}

InPlaceLayout in_place_layout(Operation operation, const Shape& shape) noexcept {
  const bool is_root = shape.rank == shape.root;
  switch (operation) {
    case Operation::gather: return {is_root ? blocks_before(shape, shape.rank) : 0, 0};
    case Operation::all_gather: return {blocks_before(shape, shape.rank), 0};
    case Operation::scatter: return {0, is_root ? blocks_before(shape, shape.rank) : 0};
    case Operation::reduce_scatter: return {0, blocks_before(shape, shape.rank)};
    default: return {};
  }
}

std::uint32_t host_count(const Shape& shape) {
  if (shape.hosts.empty()) return 1;
  // Mostly hosts are runs of ranks, in order: then they need only be counted.
  if (std::is_sorted(shape.hosts.begin(), shape.hosts.end())) {
    std::uint32_t hosts = 1;
    for (std::size_t i = 1; i < shape.hosts.size(); ++i)
      hosts += shape.hosts[i] != shape.hosts[i - 1] ? 1 : 0;
    return hosts;
  }
  return static_cast<std::uint32_t>(std::set(shape.hosts.begin(), shape.hosts.end()).size());
}

std::uint32_t largest_host(const Shape& shape) {
  if (shape.hosts.empty()) return shape.size;
  std::uint32_t most = 0, run = 0;
  if (std::is_sorted(shape.hosts.begin(), shape.hosts.end())) {
    for (std::size_t i = 0; i < shape.hosts.size(); ++i) {
      run = i > 0 && shape.hosts[i] == shape.hosts[i - 1] ? run + 1 : 1;
      most = std::max(most, run);
    }
    return most;
  }
  std::map<std::uint32_t, std::uint32_t> ranks;
  for (const std::uint32_t host : shape.hosts) most = std::max(most, ++ranks[host]);
  return most;
}

}  // namespace parley::schedule
