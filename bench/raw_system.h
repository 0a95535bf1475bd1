#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/buffers.h"
#include "bench/op.h"
#include "bench/plan.h"
#include "bench/raw_link.h"

namespace parley::bench {

// The measured traffic on a bare socket: the limit (latency, bandwidth, bidirectional), and for message-rate
// what a program gets that makes one system call per message. A System of phase.h.
class RawSystem {
 public:
  // Borrows all three for its lifetime.
  RawSystem(RawLink& link, Buffers& buffers, Op op, const Plan& plan);

  void send() { link_.send(out_, bytes_); }
  void recv() { link_.receive(in_, bytes_); }
  void send_window();
  void recv_window();
  void exchange_windows();
  void send_ack() { link_.send(&ack_, 1); }
  void recv_ack() { link_.receive(&ack_, 1); }

 private:
  RawLink& link_;
  const std::uint8_t* out_;
  std::uint8_t* in_;
  std::size_t bytes_;
  std::size_t window_bytes_;
  std::size_t piece_bytes_;       // of many messages in one call
  std::size_t send_piece_bytes_;  // of a window's
  std::uint8_t ack_ = 1;
};

}  // namespace parley::bench
