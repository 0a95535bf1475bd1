#pragma once

#include <parley/process_group.h>
#include <parley/tensor.h>

#include <span>
#include <vector>

#include "bench/collective_buffers.h"

namespace parley::bench {

// An all_reduce of two ranks as a person would write it with isend and irecv: what the library's executor of
// schedules is held against. Takes the steps of the library's algorithms: up to `most_exchanged` bytes both
// send all they have and add (recursive doubling), above that each adds one half and hands it over (ring).
// A Collective of collective.h.
class HandWrittenAllReduce {
 public:
  static constexpr std::size_t most_exchanged = 32 * 1024;

  // Borrows group and buffers for its lifetime. REQUIRES: two ranks, an all_reduce.
  HandWrittenAllReduce(ProcessGroup& group, CollectiveBuffers& buffers);

  void call(int root);

 private:
  // Sends `given` while `taken` comes from the other rank.
  void exchange(const Tensor& given, const Tensor& taken);

  ProcessGroup& group_;
  int other_;
  std::size_t mine_begin_;  // what this rank adds
  std::size_t mine_count_;
  std::span<float> in_;
  std::span<float> out_;
  std::vector<float> arrived_;
  // Views: of what is to be added by the other, of what comes for us to add; of the sums.
  Tensor given_;
  Tensor taken_;
  Tensor my_sums_;
  Tensor other_sums_;
};

}  // namespace parley::bench
