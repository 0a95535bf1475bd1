#include "bench/hand_written.h"

#include <parley/work.h>

#include <cstddef>

namespace parley::bench {
namespace {

void add(float* sum, const float* left, const float* right, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] = left[i] + right[i];
}

}  // namespace

HandWrittenAllReduce::HandWrittenAllReduce(ProcessGroup& group, CollectiveBuffers& buffers)
    : group_(group), other_(1 - buffers.rank()), in_(buffers.in()), out_(buffers.out()) {
  const std::size_t count = out_.size();
  const bool is_halved = count * sizeof(float) > most_exchanged;
  const std::size_t half = is_halved ? count / 2 : count;
  const bool is_second = is_halved && buffers.rank() == 1;
  mine_begin_ = is_second ? half : 0;
  mine_count_ = is_second ? count - half : half;
  const std::size_t others_begin = is_halved && !is_second ? half : 0;
  const std::size_t others_count = is_halved ? count - mine_count_ : count;
  arrived_.resize(mine_count_);
  given_ = Tensor(out_.subspan(others_begin, others_count));
  taken_ = Tensor(std::span(arrived_));
  if (!is_halved) return;
  my_sums_ = Tensor(in_.subspan(mine_begin_, mine_count_));
  other_sums_ = Tensor(in_.subspan(others_begin, others_count));
}

void HandWrittenAllReduce::call(int) {
  exchange(given_, taken_);
  add(in_.data() + mine_begin_, out_.data() + mine_begin_, arrived_.data(), mine_count_);
  if (mine_count_ < out_.size()) exchange(my_sums_, other_sums_);
}

void HandWrittenAllReduce::exchange(const Tensor& given, const Tensor& taken) {
  Work received = group_.irecv(taken, other_);
  Work sent = group_.isend(given, other_);
  received.wait();
  sent.wait();
}

}  // namespace parley::bench
