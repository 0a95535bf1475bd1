// A dissemination barrier: in round k every rank tells the one 2^k above it and hears from the one 2^k below
// it; after ceil(log2(size)) rounds each has heard of all (Hensgen, Finkel, Manber 1988).
#include <parley/process_group.h>

#include <cstdint>

#include "api/checks.h"
#include "api/operation.h"
#include "api/posting.h"

namespace parley {

void ProcessGroup::barrier(const BarrierOptions& options) {
  detail::GroupState& group = detail::require_member(state_, "barrier");
  transport::Engine& engine = *group.world->engine;
  const std::uint32_t context = group.all_contexts.object_collectives;
  const int size = group.size;
  const auto timeout = options.timeout.value_or(group.world->timeout);
  for (int distance = 1; distance < size; distance *= 2) {
    const int above = group.process_of((group.rank + distance) % size);
    const int below = group.process_of((group.rank - distance + size) % size);
    const detail::FailedOperation heard{"barrier", context, below};
    const detail::FailedOperation told{"barrier", context, above};

    transport::ReceiveSpec receive;
    receive.pattern = {context, static_cast<std::uint32_t>(below), distance};
    receive.timeout = timeout;
    receive.gives_up = detail::gives_up(options.timeout);
    const transport::Posted received = engine.receive(receive, false);
    if (received.request == nullptr) detail::throw_failure(group, heard, received.status);
    detail::PendingOperation pending(detail::Operation::within_call(group, *received.request, heard));

    transport::SendSpec send;
    send.destination = static_cast<std::uint32_t>(above);
    send.context = context;
    send.tag = distance;
    send.timeout = timeout;
    send.gives_up = receive.gives_up;
    const transport::Posted sent = engine.send(send, false);
    if (sent.request != nullptr) {
      auto operation = detail::Operation::within_call(group, *sent.request, told);
      detail::finish_within(operation, no_timeout);
    } else if (!sent.status.ok()) {
      detail::throw_failure(group, told, sent.status);
    }
    pending.finish();
  }
}

}  // namespace parley
