#include "api/nccl/order.h"

namespace parley::nccl {

Link::State Order::tell(const std::byte* input, std::byte* output) noexcept {
  return link().tell(stream_, timeout_,
                     [&](Communicator communicator) { return enqueue_for(communicator, input, output); });
}

Result Order::enqueue_for(Communicator communicator, const std::byte* input, std::byte* output) noexcept {
  Fold fold = assignment_.fold;
  if (assignment_.factor) {
    const Result made =
        link().library().make_scaled_sum(assignment_.factor->data(), assignment_.type, communicator, fold);
    if (made != Result::success) return has_failed(made) ? made : Result::internal_error;
    scaled_sum_ = fold;
  }
  return enqueue(link().library(), communicator, assignment_, fold, input, output, stream_);
}

// Where NCCL fails to drop a scaled sum, the communicator's end does.
void Order::finish() noexcept {
  if (!scaled_sum_) return;
  link().call(
      [&](Communicator communicator) { (void)link().library().drop_scaled_sum(*scaled_sum_, communicator); });
  scaled_sum_.reset();
}

}  // namespace parley::nccl
