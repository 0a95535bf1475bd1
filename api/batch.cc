#include <parley/batch.h>
#include <parley/error.h>

#include <cstddef>
#include <string>
#include <utility>

#include "api/checks.h"
#include "api/prepared.h"

namespace parley {

using detail::GroupState;
using detail::Prepared;

namespace {

Prepared prepare(const P2POp& op, const std::shared_ptr<GroupState>& group, const GroupState& of_call) {
  if (detail::require_member(group, "batch_isend_irecv").world != of_call.world)
    throw UsageError("its group is of another world than the call's");
  switch (op.op) {
    case P2POp::isend:
      return Prepared::send(group, op.tensor, op.peer, {.tag = op.tag, .timeout = op.timeout});
    case P2POp::irecv:
      return Prepared::receive(group, op.tensor, op.peer, {.tag = op.tag, .timeout = op.timeout});
  }
  throw UsageError("it is neither isend nor irecv");
}

}  // namespace

std::vector<Work> ProcessGroup::batch_isend_irecv(std::span<const P2POp> ops) {
  const GroupState& of_call = detail::require_member(state_, "batch_isend_irecv");
  if (ops.empty()) throw UsageError("batch_isend_irecv: the batch has no operations");
  std::vector<Prepared> prepared;
  prepared.reserve(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) try {
      const auto& own = ops[i].group.state_;
      prepared.push_back(prepare(ops[i], own == nullptr ? state_ : own, of_call));
    } catch (const UsageError& error) {
      throw UsageError("batch_isend_irecv: operation " + std::to_string(i) + ": " + error.what(),
                       error.details());
    }
  std::vector<Work> works(ops.size());
  detail::post_together(*of_call.world->engine, ops.size(),
                        [&](std::size_t i) { return std::pair(&prepared[i], &works[i]); });
  return works;
}

}  // namespace parley
