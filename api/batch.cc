#include <parley/batch.h>
#include <parley/error.h>

#include <cstddef>
#include <string>

#include "api/checks.h"
#include "api/post_together.h"
#include "api/posting.h"
#include "api/work_access.h"

namespace parley {

using detail::GroupState;

namespace {

// An operation of a batch, which is checked with all others before any is posted. Between the two nothing is
// kept: to write and read 64 specs costs more than to make them late.
struct BatchItem {
  const P2POp& op;
  const std::shared_ptr<GroupState>& group;
  Work& work;

  [[nodiscard]] bool is_send() const noexcept { return op.op == P2POp::isend; }
  void check(const GroupState& of_call) const {
    if (op.op != P2POp::isend && op.op != P2POp::irecv) throw UsageError("it is neither isend nor irecv");
    if (detail::require_member(group, is_send() ? "send" : "recv").world != of_call.world)
      throw UsageError("its group is of another world than the call's");
    if (is_send())
      detail::check_send(*group, op.tensor, op.peer, op.tag);
    else
      detail::check_receive(*group, op.tensor, op.peer, op.tag);
  }
  base::Status post(transport::Engine::Visit& visit) const {
    if (is_send()) {
      const SendOptions options{.tag = op.tag, .timeout = op.timeout};
      transport::SendSpec spec = detail::send_spec(*group, op.tensor, op.peer, options);
      spec.urgency = transport::Endpoint::Urgency::batch;
      return detail::post_send(work, group, op.tensor, op.peer, spec, visit);
    }
    const RecvOptions options{.tag = op.tag, .timeout = op.timeout};
    const transport::ReceiveSpec spec = detail::receive_spec(*group, op.tensor, op.peer, options);
    return detail::post_receive(work, group, op.tensor, op.peer, spec, visit);
  }
  void leave(base::Status status) const {
    const auto description = is_send() ? detail::describe_send(*group, op.tensor, op.peer, op.tag)
                                       : detail::describe_receive(*group, op.tensor, op.peer, op.tag);
    detail::WorkAccess::set_error(work, detail::failure_of(*group, description, status));
  }
};

}  // namespace

std::vector<Work> ProcessGroup::batch_isend_irecv(std::span<const P2POp> ops) {
  const GroupState& of_call = detail::require_member(state_, "batch_isend_irecv");
  if (ops.empty()) throw UsageError("batch_isend_irecv: the batch has no operations");
  std::vector<Work> works(ops.size());
  const auto at = [&](std::size_t i) {
    const auto& own = ops[i].group.state_;
    return BatchItem{ops[i], own == nullptr ? state_ : own, works[i]};
  };
  for (std::size_t i = 0; i < ops.size(); ++i) try {
      at(i).check(of_call);
    } catch (const UsageError& error) {
      throw UsageError("batch_isend_irecv: operation " + std::to_string(i) + ": " + error.what(),
                       error.details());
    }
  detail::post_together(*of_call.world->engine, ops.size(), at);
  return works;
}

}  // namespace parley
