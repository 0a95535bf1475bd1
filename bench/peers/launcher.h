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

// Runs the launcher, which starts this program again, with these arguments, as its ranks; its exit code, or
// 128 + the signal that ended it. When this process ends in any way, or the one that started it, the launcher
// is told to end its ranks and takes away what lies in files. Throws std::system_error.
int run_launcher(const Launch& launch, int argc, const char* const* argv);

// In a rank: it dies with its launcher.
void die_with_launcher();

}  // namespace parley::bench
