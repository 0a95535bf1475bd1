#pragma once

#include <parley/store.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/wireup/listing.h"
#include "api/wireup/rank_claim.h"
#include "api/wireup/roster.h"
#include "api/wireup/topology.h"
#include "rendezvous/address_card.h"
#include "transport/base/deadline.h"
#include "transport/socket/identity.h"

namespace parley::wireup {

// The roll call of one round of a job in the store: one world comes of it.
//
// Every rank publishes its card. Rank 0 reads them all and writes the list of the ranks: what everybody has
// to know, and what those of one place know of each other. So the store is asked for as much by each rank,
// however many there are, and only rank 0's part grows with them.
//
// Invariants:
// 1. A card belongs to one join. A process that is started again overwrites the card of the one before it,
// and
//    counts that; a list has the count that was read before the cards as its edition. So whose card was the
//    n-th to overwrite one is in every edition from n on, and in no earlier one.
// 2. A rank confirms an edition only with its own card in it, so what all have confirmed is of processes
// whose
//    cards rank 0 has seen together. A card that is read later may be that of the next process of its rank,
//    which is not in this world, and turns links of this one away.
// 3. The key "roster" is set once, to an edition that all have confirmed; that is the world of the round,
//    which is over. Whoever is not in it takes part in the next round.
class RollCall {
 public:
  // Takes the rank. Throws InitError when another process has it, or other ranks were started for a world of
  // another size; then the rank is given up again.
  RollCall(Store& store, int rank, int world_size, base::Deadline deadline);

  // A number that all ranks of this round agree on and no other job has.
  [[nodiscard]] socket::JobId agree_on_job();

  // What is agreed on in exchange(). Rank 0's count, and the advice that a rank has of its own.
  struct Terms {
    bool all_cards = true;  // everybody gets all cards, unless they are too large for a value of a store
    // Looks for what is wrong with these cards.
    std::function<std::optional<Complaint>(const std::vector<rendezvous::AddressCard>&)> review = {};
    std::string advice = {};  // ends the error that names missing ranks
  };

  // The world, as the list has it; `neighbours` only where it does not have all cards.
  struct Outcome {
    Listing listing;
    std::vector<Process> neighbours;
  };

  // Publishes our card and returns the list of the world; nothing when that was made with another process of
  // our rank, which has died since: begin again, for the next round. Names the missing ranks every 10 s;
  // throws InitError with the missing and the present ones at the deadline.
  std::optional<Outcome> exchange(const rendezvous::AddressCard& own, const Terms& terms);

  // Removes what the rounds before the last have left in the store: nobody in this round's world, or in the
  // one before, asks for it. One rank does it, once the world is made.
  void forget_older_rounds() noexcept;

  // Of this round alone.
  [[nodiscard]] std::string key(std::string_view name) const;
  // For read_cards().
  [[nodiscard]] std::string cards_prefix() const;

 private:
  void agree_on_size();
  void publish(const rendezvous::AddressCard& own);
  // How many cards were overwritten by now.
  std::int64_t renewals();
  // The list, if there is another one than the `latest` edition: rank 0 makes it, the others read it.
  std::optional<Outcome> make_list(std::int64_t latest, const Terms& terms);
  std::optional<Outcome> read_list(std::int64_t latest);
  // `places`: the processes of each, or nothing.
  void write(const Listing& listing, const std::vector<std::vector<Process>>& places);
  [[nodiscard]] std::string key_of_place(Topology::PlaceNumber place) const;
  // The keys that the ranks set, in order.
  [[nodiscard]] std::vector<std::string> keys_of_ranks(std::string_view name) const;

  Store& store_;
  const int rank_;
  const int world_size_;
  const base::Deadline deadline_;
  Turn turn_;
  std::int64_t own_edition_ = 0;  // the first one that our card is in
};

// The cards of these ranks, by the prefix that their round gives to the keys. Waits for them. Throws
// StoreError, and InitError when one cannot be read.
std::vector<rendezvous::AddressCard> read_cards(Store& store, const std::string& prefix,
                                                std::span<const int> ranks, base::Deadline deadline);

}  // namespace parley::wireup
