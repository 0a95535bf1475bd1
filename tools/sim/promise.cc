#include "tools/sim/promise.h"

#include <algorithm>

#include "api/schedule/catalogue.h"
#include "api/schedule/prices.h"

namespace parley::sim {
namespace {

double path_ns(const schedule::Path& path, const Tier& tier, double element_bytes, double least_byte_ns,
               double slowest) {
  if (path.messages == 0) return 0;
  const auto messages = static_cast<double>(path.messages);
  const double bytes = static_cast<double>(path.elements) * element_bytes;
  const Piece& piece = tier.piece(static_cast<std::uint64_t>(bytes / messages));
  return static_cast<double>(path.hops) * piece.latency_ns + messages * tier.message_ns * slowest +
         bytes * std::max({piece.byte_ns * slowest, 2 * piece.core_byte_ns * slowest, least_byte_ns});
}

// What a byte takes at the narrowest place that it shares.
double crossing_byte_ns(const Setting& setting, schedule::Algorithm algorithm, const schedule::Shape& shape) {
  const Network& network = setting.network;
  const double crossing = schedule::ranks_that_cross(algorithm, shape);
  const double rail = std::max(1.0, crossing / network.rails) * network.rail_byte_ns;
  if (network.racks() == 1) return rail;
  // A chain or ring leaves a rack once, too; the leaders of two levels cross it from all hosts.
  const bool leaves_once = crossing == 1 && algorithm != schedule::Algorithm::two_level;
  const double hosts = leaves_once ? 1 : network.hosts_per_rack;
  return std::max(rail, crossing * hosts * network.uplink_byte_ns());
}

}  // namespace

double promised_ns(const Setting& setting, const schedule::Request& request,
                   const schedule::Candidate& candidate) {
  const schedule::Algorithm algorithm = candidate.algorithm;
  schedule::Shape shape = request.shape;
  shape.segment_count = candidate.segment_count;
  const schedule::Cost cost = schedule::cost(request.operation, algorithm, shape);
  const Model& model = setting.model;
  const auto element = static_cast<double>(request.element_bytes);
  const double slowest =
      setting.slowdown.empty()
          ? 1
          : static_cast<double>(*std::max_element(setting.slowdown.begin(), setting.slowdown.end()));
  const double uplinks =
      setting.network.racks() > 1 ? static_cast<double>(cost.far.hops) * model.uplink_ns : 0;
  const SharedPiece& memory = model.shared_piece(shape.count * request.element_bytes);
  const double fold_byte_ns = cost.shared.hops > 0 ? memory.fold_byte_ns : model.fold_byte_ns;
  const auto shared = [&](std::uint64_t number, double ns) { return static_cast<double>(number) * ns; };
  return path_ns(cost.near, setting.tcp_on_host ? model.far : model.near, element, 0, slowest) +
         path_ns(cost.far, model.far, element, crossing_byte_ns(setting, algorithm, shape), slowest) +
         uplinks + shared(cost.shared.hops, memory.mark_ns) +
         shared(cost.shared.messages, model.seen_mark_ns) +
         slowest * (shared(cost.shared.elements, element * memory.byte_ns) +
                    shared(cost.reduced, element * fold_byte_ns));
}

}  // namespace parley::sim
