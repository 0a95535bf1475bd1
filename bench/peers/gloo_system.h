#pragma once

#include <gloo/context.h>
#include <gloo/transport/buffer.h>
#include <gloo/transport/unbound_buffer.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/buffers.h"
#include "bench/plan.h"

namespace parley::bench {

// The measured traffic through Gloo, in its two ways. Both are Systems of phase.h, and both ends of a pair
// make theirs in the same order, for that numbers them. They borrow mesh and buffers.

// Buffers that are bound to a connection: send() writes to the partner's buffer of the same number,
// waitRecv() counts what has come. The only way that a busy-polling mesh knows. It cannot send both ways at
// once: a send returns when the kernel has taken all, and two that send more than it holds would wait for
// each other.
class GlooBoundSystem {
 public:
  GlooBoundSystem(gloo::Context& mesh, int partner, Buffers& buffers, const Plan& plan);

  void send() { out_->send(), out_->waitSend(); }
  void recv() { in_->waitRecv(); }
  void send_window();
  void recv_window();
  void send_ack() { ack_out_->send(), ack_out_->waitSend(); }
  void recv_ack() { ack_in_->waitRecv(); }

  void send_distinct(DistinctMessages& messages, int i);
  void recv_distinct(DistinctMessages& messages, int i);
  void post_send(DistinctMessages& messages, int i) { send_distinct(messages, i); }
  void post_receive(DistinctMessages&, int i) { posted_.push_back(i); }
  void finish_posted();

 private:
  int window_;
  std::array<std::uint8_t, 2> ack_memory_{1, 1};
  std::unique_ptr<gloo::transport::Buffer> out_;
  std::unique_ptr<gloo::transport::Buffer> in_;
  std::unique_ptr<gloo::transport::Buffer> ack_out_;
  std::unique_ptr<gloo::transport::Buffer> ack_in_;
  // Of messages that differ: the partner may write to one as soon as both ends have been made.
  std::vector<std::unique_ptr<gloo::transport::Buffer>> distinct_out_;
  std::vector<std::unique_ptr<gloo::transport::Buffer>> distinct_in_;
  std::vector<int> posted_;  // receives
};

// Buffers that name the other rank with each message, which is matched by a number: what torch.distributed
// uses, on an asynchronous mesh. Each may have one message on its way, so a window has one buffer for each,
// all over the same memory.
class GlooUnboundSystem {
 public:
  GlooUnboundSystem(gloo::Context& mesh, int partner, Buffers& buffers, const Plan& plan);

  void send();
  void recv();
  void send_window();
  void recv_window();
  void exchange_windows();
  void send_ack();
  void recv_ack();

  void send_distinct(DistinctMessages& messages, int i);
  void recv_distinct(DistinctMessages& messages, int i);
  void post_send(DistinctMessages& messages, int i);
  void post_receive(DistinctMessages& messages, int i);
  void finish_posted();

 private:
  using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;

  gloo::Context& mesh_;
  int partner_;
  std::uint64_t slot_;
  std::array<std::uint8_t, 1> ack_memory_{1};
  std::vector<Buffer> out_;
  std::vector<Buffer> in_;
  Buffer ack_;
  std::vector<Buffer> posted_sends_;  // of messages that differ
  std::vector<Buffer> posted_receives_;
};

}  // namespace parley::bench
