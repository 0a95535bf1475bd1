#include "bench/parley_system.h"

#include <cstddef>
#include <span>

namespace parley::bench {

ParleySystem::ParleySystem(ProcessGroup& group, int partner, Buffers& buffers, const Plan& plan)
    : group_(group),
      partner_(partner),
      out_(buffers.out()),
      in_(buffers.in()),
      ack_(std::span<std::uint8_t>(ack_memory_)),
      works_(static_cast<std::size_t>(plan.window)) {}

void ParleySystem::send_window() {
  for (Work& work : works_) work = group_.isend(out_, partner_);
  wait_all(works_);
}

void ParleySystem::recv_window() {
  for (Work& work : works_) work = group_.irecv(in_, partner_);
  wait_all(works_);
}

}  // namespace parley::bench
