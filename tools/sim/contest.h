#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/sim/costing.h"
#include "tools/sim/trouble.h"

namespace parley::sim {

// One algorithm, with the segments that the library would give it.
struct Entrant {
  schedule::Candidate candidate;
  Figure figure;
  std::optional<Figure> slowed;  // with the stragglers
};

// All algorithms that can do one call on one network.
struct Contest {
  Network network;
  Call call;
  double bound_ns = 0;
  std::vector<Entrant> entrants = {};  // the fastest first
  std::size_t chosen = 0;              // which of them the library takes
  // The same without the lost host: what remains.
  struct Remainder {
    std::uint32_t ranks = 0, hosts = 0;
    Entrant chosen;  // what the library takes then
  };
  std::optional<Remainder> remainder = {};

  [[nodiscard]] const Entrant& fastest() const noexcept { return entrants.front(); }
  [[nodiscard]] const Entrant& taken() const noexcept { return entrants[chosen]; }
};

// `only`: these algorithms and what the library takes; empty: all. Pure. Throws UsageError where the lost
// host is not one of the network's, or nobody else is left.
Contest hold(const Setting& setting, const Call& call, const Trouble& trouble,
             std::span<const schedule::Algorithm> only = {});

}  // namespace parley::sim
