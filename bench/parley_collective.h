#pragma once

#include <parley/process_group.h>
#include <parley/tensor.h>

#include <vector>

#include "bench/collective_buffers.h"

namespace parley::bench {

// The measured collectives of Parley with plain public calls, sums of 32-bit floats, out of place. A
// Collective of collective.h.
class ParleyCollective {
 public:
  // Borrows group and buffers for its lifetime. `async`: each call returns at once and is waited for then.
  ParleyCollective(ProcessGroup& group, CollectiveBuffers& buffers, bool async)
      : ParleyCollective(group, buffers, Tensor(buffers.out()), Tensor(buffers.in()), async) {}
  // With elements wherever the tensors are, which are like those of the buffers.
  ParleyCollective(ProcessGroup& group, const CollectiveBuffers& buffers, Tensor out, Tensor in, bool async);

  void call(int root);

 private:
  Work begin(int root);

  ProcessGroup& group_;
  Op op_;
  int rank_;
  bool async_;
  Tensor out_;
  Tensor in_;
  std::vector<Tensor> blocks_;  // of what scatter gives and gather gets
};

}  // namespace parley::bench
