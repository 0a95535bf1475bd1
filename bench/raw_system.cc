#include "bench/raw_system.h"

#include <algorithm>

namespace parley::bench {
namespace {

// A stream knows no messages: the fastest way to move small ones is many to a call, all in the buffer's one
// piece.
std::size_t joined_bytes(std::size_t bytes, std::size_t window_bytes, std::size_t capacity) noexcept {
  const std::size_t whole_messages = std::max<std::size_t>(capacity / bytes, 1) * bytes;
  return std::min(whole_messages, window_bytes);
}

}  // namespace

RawSystem::RawSystem(RawLink& link, Buffers& buffers, Op op, const Plan& plan)
    : link_(link),
      out_(buffers.out().data()),
      in_(buffers.in().data()),
      bytes_(buffers.out().size()),
      window_bytes_(bytes_ * static_cast<std::size_t>(plan.window)),
      piece_bytes_(joined_bytes(bytes_, window_bytes_, buffers.capacity())) {
  send_piece_bytes_ = op == Op::message_rate ? bytes_ : piece_bytes_;
}

void RawSystem::send_window() {
  for (std::size_t left = window_bytes_; left > 0;) {
    const std::size_t piece = std::min(left, send_piece_bytes_);
    link_.send(out_, piece);
    left -= piece;
  }
}

void RawSystem::recv_window() {
  for (std::size_t left = window_bytes_; left > 0;) {
    const std::size_t piece = std::min(left, piece_bytes_);
    link_.receive(in_, piece);
    left -= piece;
  }
}

void RawSystem::exchange_windows() {
  link_.exchange(out_, in_, piece_bytes_, window_bytes_);
}

}  // namespace parley::bench
