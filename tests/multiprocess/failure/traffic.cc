#include "tests/multiprocess/failure/traffic.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tests/multiprocess/support/random.h"

namespace parley::testing {
namespace {

constexpr std::size_t largest_bytes = std::size_t{1} << 20;
using Buffer = std::vector<std::uint8_t>;

std::size_t random_size(Random& random) {
  return std::size_t{8} << random.below(18);
}

Tensor first_bytes(Buffer& buffer, std::size_t bytes) {
  return Tensor(std::span(buffer).first(bytes));
}

[[noreturn]] void run_ring(ProcessGroup& world, Random random) {
  Buffer out(largest_bytes, 1), in(largest_bytes);
  const int above = (world.rank() + 1) % world.size();
  const int below = (world.rank() + world.size() - 1) % world.size();
  for (;;) world.sendrecv(first_bytes(out, random_size(random)), above, in, below);
}

[[noreturn]] void run_permutations(ProcessGroup& world, Random random) {
  Buffer out(largest_bytes, 2), in(largest_bytes);
  std::vector<int> partner(static_cast<std::size_t>(world.size()));
  const auto self = static_cast<std::size_t>(world.rank());
  for (;;) {
    std::iota(partner.begin(), partner.end(), 0);
    for (std::size_t i = partner.size(); i > 1; --i) std::swap(partner[i - 1], partner[random.below(i)]);
    const auto below = std::find(partner.begin(), partner.end(), world.rank()) - partner.begin();
    world.sendrecv(first_bytes(out, random_size(random)), partner[self], in, static_cast<int>(below));
  }
}

[[noreturn]] void run_all_to_all(ProcessGroup& world, Random random) {
  Buffer out(largest_bytes, 3);
  std::vector<Buffer> in(static_cast<std::size_t>(world.size()), Buffer(largest_bytes));
  for (;;) {
    std::vector<Work> works;
    for (int other = 0; other < world.size(); ++other) {
      works.push_back(world.irecv(in[static_cast<std::size_t>(other)], other));
      works.push_back(world.isend(first_bytes(out, random_size(random)), other));
    }
    wait_all(works);
  }
}

[[noreturn]] void run_barriers(ProcessGroup& world) {
  for (;;) world.barrier();
}

[[noreturn]] void run_any_source(ProcessGroup& world, Random random) {
  Buffer out(largest_bytes, 4), in(largest_bytes);
  Random own(random.next() + static_cast<std::uint64_t>(world.rank()));
  for (;;) {
    const auto step = own.below(static_cast<std::size_t>(world.size() - 1)) + 1;
    const int other = (world.rank() + static_cast<int>(step)) % world.size();
    std::vector<Work> works;
    works.push_back(world.irecv(in, any_source));
    // Eager: two survivors that wait for each other's matching receive would wait long.
    works.push_back(world.isend(first_bytes(out, 8 + own.below(4096)), other));
    wait_all(works);
  }
}

}  // namespace

const char* name_of(Traffic traffic) {
  switch (traffic) {
    case Traffic::ring: return "ring";
    case Traffic::permutation: return "permutation";
    case Traffic::all_to_all: return "all_to_all";
    case Traffic::barriers: return "barriers";
    case Traffic::any_source: return "any_source";
  }
  return "";
}

void run_traffic(ProcessGroup& world, Traffic traffic, std::uint64_t seed) {
  const Random random(seed);
  switch (traffic) {
    case Traffic::ring: run_ring(world, random);
    case Traffic::permutation: run_permutations(world, random);
    case Traffic::all_to_all: run_all_to_all(world, random);
    case Traffic::barriers: run_barriers(world);
    case Traffic::any_source: break;
  }
  run_any_source(world, random);
}

}  // namespace parley::testing
