#include "api/nccl/order.h"

namespace parley::nccl {

using base::Code;
using base::Status;

Status Order::begin(const std::byte* input, std::byte* output) noexcept {
  if (!number_) number_ = link_.take_number();
  if (!link_.is_turn_of(*number_)) return Code::again;
  Link::State state = link_.look();
  if (state == Link::State::ready && !is_told_) {
    is_told_ = true;
    state = link_.tell(stream_, timeout_,
                       [&](Communicator communicator) { return tell(communicator, input, output); });
  }
  if (state == Link::State::over) return Code::device_failed;
  if (state != Link::State::ready) return Code::again;
  drop_scaled_sum();
  link_.end_turn();
  return {};
}

Result Order::tell(Communicator communicator, const std::byte* input, std::byte* output) noexcept {
  Fold fold = assignment_.fold;
  if (assignment_.factor) {
    const Result made =
        link_.library().make_scaled_sum(assignment_.factor->data(), assignment_.type, communicator, fold);
    if (made != Result::success) return has_failed(made) ? made : Result::internal_error;
    scaled_sum_ = fold;
  }
  return enqueue(link_.library(), communicator, assignment_, fold, input, output, stream_);
}

// Where NCCL fails to drop it, the communicator's end does.
void Order::drop_scaled_sum() noexcept {
  if (!scaled_sum_) return;
  link_.call(
      [&](Communicator communicator) { (void)link_.library().drop_scaled_sum(*scaled_sum_, communicator); });
  scaled_sum_.reset();
}

}  // namespace parley::nccl
