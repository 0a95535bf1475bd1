#pragma once

#include <parley/store.h>

#include <string>
#include <vector>

#include "rendezvous/address_card.h"
#include "transport/base/deadline.h"
#include "transport/socket/identity.h"

namespace parley::wireup {

// The keys of one init() of one job in the store.
class RollCall {
 public:
  // Throws InitError when another process has the rank, or other ranks were started for a world of another
  // size.
  RollCall(Store& store, int rank, int world_size, base::Deadline deadline);

  // A number that all ranks of this init() agree on and no other job has.
  [[nodiscard]] socket::JobId agree_on_job();

  // Publishes our card and returns those of all ranks. Names the missing ranks every 10 s; throws InitError
  // with the missing and the present ones, and `advice`, at the deadline.
  std::vector<rendezvous::AddressCard> exchange(const rendezvous::AddressCard& own,
                                                const std::string& advice = {});

  // Of this init() alone.
  [[nodiscard]] std::string key(std::string_view name) const;

 private:
  void agree_on_size();
  [[nodiscard]] std::string missing_ranks() const;

  Store& store_;
  int rank_;
  int world_size_;
  base::Deadline deadline_;
  std::string prefix_;
  std::vector<std::string> card_keys_;
};

}  // namespace parley::wireup
