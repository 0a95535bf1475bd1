#pragma once

#include <cstdint>

#include "bench/shared_page.h"

namespace parley::bench {

// Tells how near the two cores of a pair are at this moment: a ping-pong of one flag in shared memory. About
// 60 ns one way when the cores share a cache, 200 ns and more when the host has moved them apart; figures
// taken in different modes do not compare. Both ends call measure() equally often.
class Probe {
 public:
  // Maps the page's flags; `leads` is true on one end. Borrows the page.
  Probe(const SharedPage& page, bool leads);

  // About 1 ms. One-way time in ns, the median of short stretches; 0 on the end that does not lead.
  // Throws std::runtime_error when the partner is silent for 30 s.
  double measure();

 private:
  struct Flags;
  void exchange(int count);
  double time_batch();

  Flags& flags_;
  bool leads_;
  std::uint32_t turn_ = 0;
};

}  // namespace parley::bench
