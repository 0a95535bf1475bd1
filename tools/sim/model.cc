#include "tools/sim/model.h"

#include <algorithm>

#include "api/schedule/prices.h"

namespace parley::sim {
namespace {

Tier tier_of(schedule::Link link) {
  const schedule::LinkPrice price = schedule::price(link);
  return {price.message_ns, {{0, price.latency_ns, price.byte_ns, 0}}};
}

template <typename AnyPiece>
const AnyPiece& piece_of(const std::vector<AnyPiece>& pieces, std::uint64_t bytes) noexcept {
  std::size_t found = 0;
  while (found + 1 < pieces.size() && pieces[found + 1].from_bytes <= bytes) ++found;
  return pieces[found];
}

}  // namespace

const Piece& Tier::piece(std::uint64_t bytes) const noexcept {
  return piece_of(pieces, bytes);
}

const SharedPiece& Model::shared_piece(std::uint64_t bytes) const noexcept {
  return piece_of(shared, bytes);
}

double Tier::busy_ns(std::uint64_t bytes) const noexcept {
  return message_ns + piece(bytes).byte_ns * static_cast<double>(bytes);
}

double Tier::alone_ns(std::uint64_t bytes) const noexcept {
  const double core = piece(bytes).core_byte_ns * static_cast<double>(bytes);
  return std::max(busy_ns(bytes), core) + piece(bytes).latency_ns;
}

double Tier::least_latency_ns() const noexcept {
  double least = pieces.front().latency_ns;
  for (const Piece& one : pieces) least = std::min(least, one.latency_ns);
  return least;
}

double Tier::least_byte_ns() const noexcept {
  double least = std::max(pieces.front().byte_ns, pieces.front().core_byte_ns);
  for (const Piece& one : pieces) least = std::min(least, std::max(one.byte_ns, one.core_byte_ns));
  return least;
}

Model library_model() {
  return {.near = tier_of(schedule::Link::shared_memory),
          .far = tier_of(schedule::Link::tcp),
          .uplink_ns = 500,
          .fold_byte_ns = schedule::fold_byte_ns,
          .copy_byte_ns = schedule::shared_byte_ns,
          .step_ns = schedule::step_ns,
          .seen_mark_ns = schedule::seen_mark_ns,
          .shared = {{0, schedule::mark_ns, schedule::shared_byte_ns, schedule::shared_fold_byte_ns}}};
}

}  // namespace parley::sim
