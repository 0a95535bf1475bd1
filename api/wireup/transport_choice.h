#pragma once

#include <string_view>

namespace parley::wireup {

// Which transports may link two processes.
struct TransportChoice {
  bool shm = false;
  bool tcp = false;
};

// The grammar of PARLEY_TRANSPORTS: names with commas between them, of shm and tcp; these are allowed and no
// others. A name after ^ is not allowed; with such names only, all others are. Throws UsageError, also when
// nothing is left.
TransportChoice parse_transports(std::string_view text);

// As PARLEY_TRANSPORTS says; tcp when it is not set.
TransportChoice chosen_transports();

}  // namespace parley::wireup
