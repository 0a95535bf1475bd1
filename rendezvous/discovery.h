#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace parley::rendezvous {

// Where this process stands in its job, as told from outside.
struct Place {
  int rank = 0;
  int world_size = 1;
  int local_rank = -1;     // among the ranks of this host; -1: not told
  bool alone = false;      // nothing was told: a world of one, without a store
  std::string store_host;  // where the store is
  std::uint16_t store_port = 0;
  bool serves_store = false;  // this process is to serve it
  std::string source;         // for people: "env://", "tcp://..."
};

// Reads `method`: "env://" (MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE, LOCAL_RANK if it is set, and
// PARLEY_STORE=launcher when the store is served already) or "tcp://host:port?rank=R&world_size=N". A rank or
// world size of 0 or more given here wins. Throws parley::UsageError that names every variable or parameter
// that is missing or malformed.
Place discover(std::string_view method, int rank, int world_size);

}  // namespace parley::rendezvous
