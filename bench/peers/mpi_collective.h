#pragma once

#include "bench/collective_buffers.h"

namespace parley::bench {

// The measured collectives of MPI, one blocking call each, sums of 32-bit floats, out of place. A Collective
// of collective.h.
class MpiCollective {
 public:
  // Borrows the buffers for its lifetime.
  explicit MpiCollective(CollectiveBuffers& buffers);

  void call(int root);

 private:
  CollectiveBuffers& buffers_;
  float* out_;
  float* in_;
  int count_;
};

}  // namespace parley::bench
