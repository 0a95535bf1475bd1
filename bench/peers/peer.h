#pragma once

#include <vector>

#include "bench/peers/contender.h"
#include "bench/world.h"

namespace parley::bench {

// A measured library on one rank. Errors are the library's own exceptions.
class Peer {
 public:
  virtual ~Peer() = default;

  virtual World& world() = 0;
  // The library's ways of doing the stage's operation between this rank and its partner, on all ranks the
  // same. They borrow stage and buffers.
  virtual std::vector<Contender> pair_contenders(const Stage& stage, int partner, Buffers& buffers,
                                                 const Plan& plan) = 0;
  virtual std::vector<Contender> collective_contenders(const Stage& stage, CollectiveBuffers& buffers) = 0;

 protected:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
};

}  // namespace parley::bench
