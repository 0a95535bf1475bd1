#pragma once

#include <cstdint>
#include <vector>

#include "api/schedule/selection.h"
#include "tools/sim/model.h"
#include "tools/sim/network.h"

namespace parley::sim {

// A collective of all ranks of a network.
struct Call {
  schedule::Operation operation = schedule::Operation::all_reduce;
  std::uint64_t bytes = 0;  // as parley-bench counts them: the vector, or one rank's block
  std::uint64_t element_bytes = 4;
  bool lends = false;  // callers' buffers are shared tensors
};

// What is looked at, and how closely.
struct Setting {
  Network network;
  Model model;
  // How many times as long each rank is busy with what it does; empty: once, all of them.
  std::vector<float> slowdown = {};
  // Steps of a figure that are simulated at most; the memory is about 60 bytes for each.
  std::uint64_t most_steps = std::uint64_t{12} << 20;
  // The ranks of one host reach each other by messages over TCP, the network's far tier, as with
  // PARLEY_TRANSPORTS=tcp: the library then takes them for ranks of one host. `network` has one on each.
  bool tcp_on_host = false;
};

// How a figure came about.
enum class Accuracy : std::uint8_t {
  exact,     // all ranks' schedules, or all that differ
  evened,    // of a count a little larger, which makes all blocks equal
  promised,  // too large to simulate, or hopeless: the promised cost of the algorithm (schedule::Cost), a
             // bound from above
};

struct Figure {
  double ns = 0;
  Accuracy accuracy = Accuracy::exact;
  std::uint64_t steps = 0;  // that were simulated
};

// What the library chooses by. Borrows `hosts`, which are Network::host_of_each(), for as long as it lives.
schedule::Request request_of(const Setting& setting, const Call& call, std::span<const std::uint32_t> hosts);

// Time of the call by this algorithm and segment. Schedules are made one after the other and kept as programs
// only, of as few ranks as symmetry allows. REQUIRES: the algorithm supports the request's shape.
Figure cost_of(const Setting& setting, const schedule::Request& request, const schedule::Candidate& candidate,
               bool lends);

}  // namespace parley::sim
