#include "bench/parley_system.h"

#include <cstddef>
#include <span>
#include <utility>

namespace parley::bench {

ParleySystem::ParleySystem(ProcessGroup& group, int partner, Tensor out, Tensor in, const Plan& plan)
    : group_(group),
      partner_(partner),
      out_(std::move(out)),
      in_(std::move(in)),
      ack_(std::span<std::uint8_t>(ack_memory_)),
      works_(2 * static_cast<std::size_t>(plan.window)),
      sends_(std::span(works_).first(works_.size() / 2)),
      receives_(std::span(works_).last(works_.size() / 2)) {}

void ParleySystem::post_sends() {
  for (Work& work : sends_) work = group_.isend(out_, partner_);
}

void ParleySystem::post_receives() {
  for (Work& work : receives_) work = group_.irecv(in_, partner_);
}

void ParleySystem::send_window() {
  post_sends();
  wait_all(sends_);
}

void ParleySystem::recv_window() {
  post_receives();
  wait_all(receives_);
}

void ParleySystem::exchange_windows() {
  post_receives();
  post_sends();
  wait_all(works_);
}

void ParleySystem::post_send(DistinctMessages& messages, int i) {
  posted_.push_back(group_.isend(Tensor(messages.out(i)), partner_));
}

void ParleySystem::post_receive(DistinctMessages& messages, int i) {
  posted_.push_back(group_.irecv(Tensor(messages.in(i)), partner_));
}

void ParleySystem::finish_posted() {
  wait_all(posted_);
  posted_.clear();
}

}  // namespace parley::bench
