#include "tools/sim/bound.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

namespace parley::sim {
namespace {

using schedule::Operation;

// What one of `parts` equal parts of the group has to send or receive at least, in parts of what it has for
// all `ranks` together: see the paper's table.
double least_bytes(Operation operation, double bytes, double ranks, double parts) {
  const double others = (parts - 1) / parts;
  switch (operation) {
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::scan:
    case Operation::exscan: return bytes;
    case Operation::all_reduce: return 2 * others * bytes;
    // All blocks are at each rank in the end, at the root, or come from each rank.
    case Operation::scatter:
    case Operation::gather:
    case Operation::all_gather:
    case Operation::reduce_scatter: return others * bytes * ranks;
    // Each of a part's ranks has a block for each rank of the other parts.
    case Operation::all_to_all: return others * bytes * ranks * (ranks / parts);
    case Operation::barrier: return 0;
  }
  return 0;
}

// When `size` know what one of them knows at first, if who knows can tell another one every `gap`, who knows
// it `hop` later: Karp, Sahay, Santos, Schauser: Optimal broadcast and summation in the LogP model, SPAA
// 1993.
double spreading_ns(std::uint32_t size, double gap, double hop) {
  if (size < 2) return 0;
  if (gap <= 0) return hop;
  std::priority_queue<double, std::vector<double>, std::greater<>> next;  // when each one can tell
  next.push(0);
  double last = 0;
  for (std::uint32_t known = 1; known < size; ++known) {
    const double now = next.top();
    next.pop();
    last = now + hop;
    next.push(now + gap);
    next.push(last);
  }
  return last;
}

double folding_ns(Operation operation, double bytes, double ranks, double fold_byte_ns) {
  if (!reduces(operation)) return 0;
  // What has to be folded in all, shared out over all ranks.
  const double whole = operation == Operation::reduce_scatter ? bytes * ranks : bytes;
  return whole * (ranks - 1) / ranks * fold_byte_ns;
}

// Ranks of one host, which reach each other by messages or by memory that they share: whichever is better.
double on_host_ns(const Setting& setting, const Call& call) {
  const Model& model = setting.model;
  const Tier& tier = setting.tcp_on_host ? model.far : model.near;
  const double ranks = setting.network.ranks;
  double latency =
      spreading_ns(setting.network.ranks, tier.message_ns, tier.message_ns + tier.least_latency_ns());
  double byte_ns = tier.least_byte_ns();
  if (!setting.tcp_on_host) {
    const SharedPiece& memory = model.shared_piece(call.bytes);
    latency = std::min(latency, memory.mark_ns);
    // What is shown to all need not be sent to each: half of an all_reduce.
    byte_ns = std::min(byte_ns, memory.byte_ns / 2);
  }
  return std::max(latency,
                  least_bytes(call.operation, static_cast<double>(call.bytes), ranks, ranks) * byte_ns);
}

double between_hosts_ns(const Setting& setting, const Call& call) {
  const Network& network = setting.network;
  const Tier& far = setting.model.far;
  const auto bytes = static_cast<double>(call.bytes);
  const double ranks = network.ranks, each = network.ranks_per_host;
  const double hop = far.message_ns + far.least_latency_ns();
  double bound = spreading_ns(network.hosts(), far.message_ns / each, hop);
  const double byte_ns = std::max(network.rail_byte_ns / network.rails, far.least_byte_ns() / each);
  bound = std::max(bound, least_bytes(call.operation, bytes, ranks, network.hosts()) * byte_ns);
  if (network.racks() > 1)
    bound = std::max(bound,
                     least_bytes(call.operation, bytes, ranks, network.racks()) * network.uplink_byte_ns());
  return bound;
}

// Every rank by itself, as if all its peers were near.
double of_ranks_ns(const Setting& setting, const Call& call) {
  const Model& model = setting.model;
  const bool has_near = setting.network.ranks_per_host > 1;
  const auto least = [&](auto of) {
    return has_near ? std::min(of(model.near), of(model.far)) : of(model.far);
  };
  const double gap = least([](const Tier& tier) { return tier.message_ns; });
  const double hop = least([](const Tier& tier) { return tier.message_ns + tier.least_latency_ns(); });
  const double byte_ns = least([](const Tier& tier) { return tier.least_byte_ns(); });
  const double ranks = setting.network.ranks;
  return std::max(spreading_ns(setting.network.ranks, gap, hop),
                  least_bytes(call.operation, static_cast<double>(call.bytes), ranks, ranks) * byte_ns);
}

}  // namespace

double lower_bound_ns(const Setting& setting, const Call& call) {
  if (setting.network.ranks == 1) return 0;
  const bool is_on_host = setting.tcp_on_host || setting.network.hosts() == 1;
  const Model& model = setting.model;
  const double fold_byte_ns = is_on_host
                                  ? std::min(model.fold_byte_ns, model.shared_piece(call.bytes).fold_byte_ns)
                                  : model.fold_byte_ns;
  const double folding =
      folding_ns(call.operation, static_cast<double>(call.bytes), setting.network.ranks, fold_byte_ns);
  if (is_on_host) return std::max(folding, on_host_ns(setting, call));
  return std::max({folding, between_hosts_ns(setting, call), of_ranks_ns(setting, call)});
}

}  // namespace parley::sim
