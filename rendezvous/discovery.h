#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rendezvous/surroundings.h"

namespace parley::rendezvous {

// Where this process stands in its job, as told from outside.
struct Place {
  int rank = 0;
  int world_size = 1;
  int local_rank = -1;  // among the ranks of this host; -1: not told
  bool alone = false;   // nothing was told: a world of one, without a store
  // Where the store is: at one of these three, or nowhere for a world of one.
  std::string store_host;  // over TCP
  std::uint16_t store_port = 0;
  std::string store_path;     // in this file
  std::string store_key;      // in the private_file() of this key: all ranks are on this host
  bool serves_store = false;  // this process is to serve it, over TCP
  std::string job;            // tells the job from others that have the same secret; empty: nothing does
  std::string source;         // for people: which variables said so
};

// Reads `method`: "env://", "tcp://host:port?rank=R&world_size=N" or "file:///path?rank=R&world_size=N". A
// rank or world size of 0 or more given here wins.
//
// "env://" takes rank and world size from the first of these that has one, as api/README.md has it in full:
// PARLEY_*, RANK and WORLD_SIZE, Open MPI, PMI, Slurm; else a world of one. The store is where PARLEY_STORE
// says, else MASTER_ADDR and MASTER_PORT, else where the launcher's variables allow all ranks to find it.
//
// Throws parley::UsageError that names every variable or parameter that is missing, malformed or contradicts
// another one.
Place discover(std::string_view method, int rank, int world_size,
               const Surroundings& around = own_surroundings());

}  // namespace parley::rendezvous
