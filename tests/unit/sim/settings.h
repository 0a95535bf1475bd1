#pragma once

#include <vector>

#include "api/schedule/catalogue.h"
#include "tools/sim/costing.h"

namespace parley::sim {

// Prices of which sums are easily told apart.
inline Model simple_model() {
  Model model;
  model.near = {10, {{0, 90, 1, 0}}};
  model.far = {100, {{0, 900, 2, 0}}};
  model.uplink_ns = 50;
  model.fold_byte_ns = 0.5;
  model.seen_mark_ns = 1;
  model.shared = {{0, 30, 0.25, 0.5}};
  return model;
}

// Ranks that have a host each, and rails that are never too narrow.
inline Setting alone(std::uint32_t ranks) {
  Setting setting;
  setting.network = {.ranks = ranks, .rail_byte_ns = 2};
  setting.model = simple_model();
  return setting;
}

inline Figure cost(const Setting& setting, schedule::Operation operation, schedule::Algorithm algorithm,
                   std::uint64_t bytes, std::uint64_t segment_bytes = 0) {
  const Call call{.operation = operation, .bytes = bytes};
  const std::vector<std::uint32_t> hosts = setting.network.host_of_each();
  return cost_of(setting, request_of(setting, call, hosts), {algorithm, segment_bytes / call.element_bytes},
                 false);
}

}  // namespace parley::sim
