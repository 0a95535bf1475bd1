#include "tools/sim/prediction.h"

#include <algorithm>
#include <vector>

#include "api/schedule/operation.h"
#include "tools/sim/costing.h"

namespace parley::sim {
namespace {

// As bench/plan.h has them.
constexpr double most_window = 64;
constexpr double least_window = 4;
constexpr double window_bytes = 256 << 20;

double window_ns(const Tier& tier, std::uint64_t bytes) {
  const double window = std::clamp(window_bytes / static_cast<double>(bytes), least_window, most_window);
  return tier.busy_ns(bytes) + (tier.piece(bytes).latency_ns + tier.alone_ns(1)) / window;
}

double collective_ns(const Model& model, const Row& row) {
  Setting setting{.network = {.ranks = row.ranks}, .model = model, .tcp_on_host = !row.is_shared};
  if (row.is_shared) setting.network.ranks_per_host = row.ranks;
  const Call call{.operation = *schedule::find_operation(row.op), .bytes = row.bytes};
  const std::vector<std::uint32_t> hosts =
      setting.tcp_on_host ? std::vector<std::uint32_t>{} : setting.network.host_of_each();
  const schedule::Request request = request_of(setting, call, hosts);
  return cost_of(setting, request, schedule::select(request, {}).chosen, false).ns;
}

}  // namespace

double predict(const Model& model, const Row& row) {
  const Tier& tier = row.is_shared ? model.near : model.far;
  if (row.op == "latency") return tier.alone_ns(row.bytes);
  if (row.op == "bandwidth" || row.op == "message-rate") return window_ns(tier, row.bytes);
  return collective_ns(model, row);
}

}  // namespace parley::sim
