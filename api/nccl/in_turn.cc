#include "api/nccl/in_turn.h"

namespace parley::nccl {

using base::Code;
using base::Status;

Status InTurn::begin(const std::byte* input, std::byte* output) noexcept {
  if (!number_) number_ = link_.take_number();
  if (!link_.is_turn_of(*number_)) return Code::again;
  Link::State state = link_.look();
  if (state == Link::State::ready && !is_told_) {
    if (!is_due()) return Code::again;
    is_told_ = true;
    state = tell(input, output);
  }
  if (state == Link::State::over) return Code::device_failed;
  if (state != Link::State::ready) return Code::again;
  finish();
  link_.end_turn();
  return {};
}

}  // namespace parley::nccl
