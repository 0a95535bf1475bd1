#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/devices/device_choice.h"
#include "bench/op.h"

namespace parley::bench {

// What is measured, and how long: the same for Parley and for every other library.
struct Measurement {
  Op op = Op::latency;
  std::string transport = "tcp";   // as the rows call it: "tcp", "tcp+tls", "shm"
  DeviceChoice devices;            // where the buffers lie
  std::vector<std::size_t> sizes;  // bytes; of a barrier: one of nothing
  bool rewrite = false;            // senders' buffers written anew before each exchange
  bool read = false;               // collectives: each rank reads what a call brings, in the measured time
  int rounds = 21;
  // Of one system's turn in a round. Short, so that all systems of a round meet the machine in one mode.
  double round_ms = 10;
  std::string json_file;  // empty: no JSON
};

}  // namespace parley::bench
