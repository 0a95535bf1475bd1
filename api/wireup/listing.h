#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/wireup/topology.h"
#include "rendezvous/address_card.h"
#include "transport/base/wire.h"

namespace parley::wireup {

// Why the ranks that have come make no world: each of them fails with it.
struct Complaint {
  bool is_of_usage = false;  // a UsageError, else an InitError
  int culprit = -1;
  std::string text;
};

// What rank 0 writes down for all ranks, once it has read everybody's card.
struct Listing {
  std::int64_t edition = 0;  // how many cards had been overwritten when the cards were read
  Topology topology;
  // By rank: all of them in a world whose ranks all link at once, else that of rank 0 alone.
  std::vector<rendezvous::AddressCard> cards;
  std::optional<Complaint> complaint;

  [[nodiscard]] bool has_all_cards() const noexcept {
    return cards.size() == static_cast<std::size_t>(topology.size());
  }
};

base::Bytes encode(const Listing& listing);
// Nothing when the bytes are no listing, or one of another version.
std::optional<Listing> decode_listing(std::span<const std::byte> bytes);

}  // namespace parley::wireup
