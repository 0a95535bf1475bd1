#pragma once

#include <parley/process_group.h>
#include <parley/tensor.h>
#include <parley/work.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/buffers.h"
#include "bench/plan.h"

namespace parley::bench {

// The measured traffic through the library, with its plain public calls. A System of phase.h.
class ParleySystem {
 public:
  // Borrows group and buffers for its lifetime.
  ParleySystem(ProcessGroup& group, int partner, Buffers& buffers, const Plan& plan)
      : ParleySystem(group, partner, Tensor(buffers.out()), Tensor(buffers.in()), plan) {}
  // With messages wherever the tensors are. Borrows the group.
  ParleySystem(ProcessGroup& group, int partner, Tensor out, Tensor in, const Plan& plan);
  // Its tensors view its own members.
  ParleySystem(const ParleySystem&) = delete;
  ParleySystem& operator=(const ParleySystem&) = delete;

  void send() { group_.send(out_, partner_); }
  void recv() { group_.recv(in_, partner_); }
  void send_window();
  // All receives of a window share one buffer, as in the OSU benchmarks and like the raw reader: the link is
  // ordered, so they are filled one after the other. That no message is lost on the way, DistinctMessages
  // prove.
  void recv_window();
  void exchange_windows();
  void send_ack() { group_.send(ack_, partner_); }
  void recv_ack() { group_.recv(ack_, partner_); }

  void send_distinct(DistinctMessages& messages, int i) { group_.send(Tensor(messages.out(i)), partner_); }
  void recv_distinct(DistinctMessages& messages, int i) { group_.recv(Tensor(messages.in(i)), partner_); }
  void post_send(DistinctMessages& messages, int i);
  void post_receive(DistinctMessages& messages, int i);
  void finish_posted();

 private:
  void post_sends();
  void post_receives();

  ProcessGroup& group_;
  int partner_;
  Tensor out_;
  Tensor in_;
  std::array<std::uint8_t, 1> ack_memory_{1};
  Tensor ack_;
  std::vector<Work> works_;  // of a window of sends, then of one of receives
  std::span<Work> sends_;
  std::span<Work> receives_;
  std::vector<Work> posted_;  // of messages that differ
};

}  // namespace parley::bench
