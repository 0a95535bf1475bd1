#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/peers/peer_options.h"

namespace parley::bench {

// How an MPI library starts its ranks, with its best settings; README.md gives the reason of each.
struct Launch {
  std::vector<std::string> command;                // without the program that it starts
  std::map<std::string, std::string> environment;  // set for launcher and ranks
};

// What the machine makes of a number of ranks.
struct Host {
  bool oversubscribed = false;  // more ranks than cores
  bool root = false;            // the user is the superuser
};

Launch openmpi_launch(const PeerOptions& options, const Host& host);
Launch mpich_launch(const PeerOptions& options, const Host& host);

// Becomes the launcher, which starts this program again, with these arguments, as its ranks. The launcher
// ends, and the ranks with it, when the process that started this one dies. Returns only by
// std::runtime_error, when there is no such launcher.
[[noreturn]] void become_launcher(const Launch& launch, int argc, const char* const* argv);

// In a rank: it dies with its launcher.
void die_with_launcher();

}  // namespace parley::bench
