#include <parley/batch.h>
#include <parley/error.h>

#include <cstddef>
#include <string>

#include "api/checks.h"
#include "api/fused_batch.h"
#include "api/post_together.h"
#include "api/posting.h"
#include "api/work_access.h"

namespace parley {

using detail::GroupState;

namespace {

// An operation of a batch, which is checked with all others before any is posted. Between the two nothing is
// kept: to write and read 64 specs costs more than to make them late.
class BatchItem {
 public:
  BatchItem(const P2POp& op, const std::shared_ptr<GroupState>& group, Work& work) noexcept
      : op_(op), group_(group), work_(work) {}

  [[nodiscard]] bool is_send() const noexcept { return op_.op == P2POp::isend; }
  void check(const GroupState& of_call) const {
    if (op_.op != P2POp::isend && op_.op != P2POp::irecv) throw UsageError("it is neither isend nor irecv");
    const bool is_of_call = group_.get() == &of_call;  // which is checked
    if (!is_of_call && detail::require_member(group_, is_send() ? "send" : "recv").world != of_call.world)
      throw UsageError("its group is of another world than the call's");
    if (is_send())
      detail::check_send(*group_, op_.tensor, op_.peer, op_.tag);
    else
      detail::check_receive(*group_, op_.tensor, op_.peer, op_.tag);
  }
  base::Status post(transport::Engine::Visit& visit) const {
    return is_send() ? detail::post_send(work_, group_, op_.tensor, op_.peer, send_spec(), visit)
                     : detail::post_receive(work_, group_, op_.tensor, receive_spec(), visit);
  }
  void leave(base::Status status) const {
    const auto description = is_send() ? detail::describe(send_spec()) : detail::describe(receive_spec());
    detail::WorkAccess::set_error(work_, detail::failure_of(*group_, description, status));
  }

 private:
  [[nodiscard]] transport::SendSpec send_spec() const {
    transport::SendSpec spec = detail::checked_send_spec(*group_, op_.tensor, op_.peer, op_.tag, op_.timeout);
    spec.urgency = transport::Endpoint::Urgency::batch;
    return spec;
  }
  [[nodiscard]] transport::ReceiveSpec receive_spec() const {
    return detail::checked_receive_spec(*group_, op_.tensor, op_.peer, op_.tag, op_.timeout);
  }

  const P2POp& op_;
  const std::shared_ptr<GroupState>& group_;
  Work& work_;
};

}  // namespace

std::vector<Work> ProcessGroup::batch_isend_irecv(std::span<const P2POp> ops) {
  const GroupState& of_call = detail::require_member(state_, "batch_isend_irecv");
  if (ops.empty()) throw UsageError("batch_isend_irecv: the batch has no operations");
  std::vector<Work> works(ops.size());
  const auto at = [&](std::size_t i) {
    const auto& own = ops[i].group.state_;
    return BatchItem(ops[i], own == nullptr ? state_ : own, works[i]);
  };
  std::size_t sends = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) try {
      const BatchItem item = at(i);
      item.check(of_call);
      sends += item.is_send() ? 1 : 0;
    } catch (const UsageError& error) {
      throw UsageError("batch_isend_irecv: operation " + std::to_string(i) + ": " + error.what(),
                       error.details());
    }
  if (!detail::post_fused(state_, ops, works))
    detail::post_together(*of_call.world->engine, ops.size() - sends, sends, at);
  return works;
}

}  // namespace parley
