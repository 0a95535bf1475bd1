#include "tools/sim/ports.h"

#include <algorithm>

namespace parley::sim {
namespace {

// A message on its way: a stream of bytes that takes so long at the narrowest place so far, if nobody is in
// its way; when its first byte is at a place, and when its last one has left all places so far.
struct Passage {
  double begin;
  double end;
  double stream = 0;

  // Done there when all is that was begun there before. Where that place is wider than another one of its
  // way, those that share it go through it side by side: it begins as soon as a stream of its own can, not
  // only when the ones before it are through.
  void through(double& free_at, double busy) noexcept {
    free_at = std::max(begin, free_at) + busy;
    stream = std::max(stream, busy);
    begin = std::max(begin, free_at - stream);
    end = std::max(end, free_at);
  }
  // Where it need not be at the same time as elsewhere.
  void beside(double now, double& free_at, double busy) noexcept {
    free_at = std::max(now, free_at) + busy;
    end = std::max(end, free_at);
  }
};

}  // namespace

Ports::Ports(const Network& network, const Model& model, std::uint32_t actors,
             std::span<const float> slowdown)
    : network_(network),
      model_(model),
      slowdown_(slowdown),
      receiver_(actors),
      core_(actors),
      rail_out_(network.rail(actors - 1) / network.rails * network.rails + network.rails),
      rail_in_(rail_out_.size()),
      uplink_out_(network.rack(actors - 1) + 1),
      uplink_in_(uplink_out_.size()) {}

Ports::Times Ports::pass(double now, std::uint32_t from, std::uint32_t to, Way way, std::uint64_t bytes) {
  const Tier& tier = way == Way::near ? model_.near : model_.far;
  const double busy = tier.busy_ns(bytes);
  const Piece& piece = tier.piece(bytes);
  const double moving = std::max(piece.byte_ns, piece.core_byte_ns) * static_cast<double>(bytes) *
                        std::max(slowdown(from), slowdown(to));
  Passage passage{now, now + busy * slowdown(from), moving};
  const double core = piece.core_byte_ns * static_cast<double>(bytes);
  double latency = piece.latency_ns;
  if (core > 0) passage.beside(now, core_[from], core * slowdown(from));
  double sent = passage.end;
  if (way != Way::near) {
    const double rail = network_.rail_byte_ns * static_cast<double>(bytes);
    passage.through(rail_out_[network_.rail(from)], rail);
    sent = passage.end;
    if (way == Way::uplink) {
      const double uplink = network_.uplink_byte_ns() * static_cast<double>(bytes);
      passage.through(uplink_out_[network_.rack(from)], uplink);
      passage.through(uplink_in_[network_.rack(to)], uplink);
      latency += model_.uplink_ns;
    }
    passage.through(rail_in_[network_.rail(to)], rail);
  }
  passage.through(receiver_[to], busy * slowdown(to));
  if (core > 0) passage.beside(now, core_[to], core * slowdown(to));
  return {sent, passage.end + latency};
}

}  // namespace parley::sim
