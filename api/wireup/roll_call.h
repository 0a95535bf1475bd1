#pragma once

#include <parley/store.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/wireup/rank_claim.h"
#include "rendezvous/address_card.h"
#include "transport/base/deadline.h"
#include "transport/socket/identity.h"

namespace parley::wireup {

// The roll call of one round of a job in the store: one world comes of it.
//
// Invariants:
// 1. A card is of one join: it carries a number drawn for it. A roster is one card of each rank, named by a
//    hash of those numbers. A process that is started again overwrites the card of the one before it, which
//    makes another roster.
// 2. A rank confirms a roster only with its own card in it, so what all have confirmed is of processes that
//    have all seen one another's cards.
// 3. The key "roster" is set once, to the name of a roster that all have confirmed; that is the world of the
//    round, which is over. Whoever is not in it takes part in the next round.
class RollCall {
 public:
  // Takes the rank. Throws InitError when another process has it, or other ranks were started for a world of
  // another size; then the rank is given up again.
  RollCall(Store& store, int rank, int world_size, base::Deadline deadline);

  // A number that all ranks of this round agree on and no other job has.
  [[nodiscard]] socket::JobId agree_on_job();

  // Publishes our card and returns those of all ranks; nothing when the world was made with another process
  // of our rank, which has died since: begin again, for the next round. Names the missing ranks every 10 s;
  // throws InitError with the missing and the present ones, and `advice`, at the deadline.
  std::optional<std::vector<rendezvous::AddressCard>> exchange(const rendezvous::AddressCard& own,
                                                               const std::string& advice = {});

  // Removes what the rounds before the last have left in the store: nobody in this round's world, or in the
  // one before, asks for it. One rank does it, once the world is made.
  void forget_older_rounds() noexcept;

  // Of this round alone.
  [[nodiscard]] std::string key(std::string_view name) const;

 private:
  // One card of each rank.
  struct Roster {
    std::string name;
    std::vector<rendezvous::AddressCard> cards;
  };

  void agree_on_size();
  void publish(const rendezvous::AddressCard& own);
  Roster read_roster();
  // How many cards were overwritten by now.
  std::int64_t renewals();
  // The keys that the ranks set, in order.
  [[nodiscard]] std::vector<std::string> keys_of_ranks(std::string_view name) const;

  Store& store_;
  const int rank_;
  const int world_size_;
  const base::Deadline deadline_;
  Turn turn_;
};

}  // namespace parley::wireup
