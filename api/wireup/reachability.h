#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/address_card.h"
#include "rendezvous/discovery.h"

namespace parley::wireup {

// A rank that ranks of other hosts cannot reach, because it listens on a loopback address.
struct Unreachable {
  int rank = 0;
  std::string text;  // who cannot reach whom, and what to set
};

// What made a rank listen where it does, for the advice on it: how the store was found.
struct StoreOrigin {
  enum class Kind : std::uint8_t {
    network,     // at a host that `setting` names: an address of ours on the way there
    file,        // loopback
    of_program,  // given as an object
  };
  Kind kind = Kind::network;
  std::string setting;  // what a person changes: "MASTER_ADDR"
};
StoreOrigin origin_of_store(const rendezvous::Place& place, bool of_program);

// The first such rank; nothing when there is none. A frequent reason: the host of rank 0 finds the store by
// its own name, which Debian resolves to 127.0.1.1 on that host.
std::optional<Unreachable> find_unreachable(const std::vector<rendezvous::AddressCard>& cards,
                                            const StoreOrigin& origin);

// What to add when others are missing: nothing unless `store_host`, the name of this host under which it
// serves the store, resolves to a loopback address, where other hosts cannot find it. `setting` is where the
// name is from: "MASTER_ADDR".
std::string advice_on_missing(const std::string& store_host, std::string_view setting);

}  // namespace parley::wireup
