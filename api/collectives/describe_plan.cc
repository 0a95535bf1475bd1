#include <parley/error.h>
#include <parley/process_group.h>

#include <cstdint>

#include "api/checks.h"
#include "api/collective/channel.h"
#include "api/collective_call.h"
#include "api/device_path.h"
#include "transport/base/log.h"

namespace parley {

using base::concat;

std::string ProcessGroup::describe_plan(std::string_view operation, std::size_t bytes,
                                        const PlanOptions& options) const {
  constexpr auto name = "describe_plan";
  detail::GroupState& group = detail::require_member(state_, name);
  const auto found = schedule::find_operation(operation);
  if (!found) {
    std::string known;
    for (const schedule::Operation each : schedule::all_operations())
      known += concat(known.empty() ? "" : ", ", schedule::name(each));
    throw UsageError(concat(name, ": \"", operation, "\" is none of ", known));
  }
  detail::check_rank(group, options.root, "describe_plan: root");
  const std::size_t element_bytes = size_of(options.dtype);
  if (bytes % element_bytes != 0)
    throw UsageError(
        concat(name, ": ", bytes, " bytes are no whole elements of ", parley::name(options.dtype)));
  collective::Question question;
  question.operation = *found;
  question.root = static_cast<std::uint32_t>(options.root);
  question.count = bytes / element_bytes;
  question.element_bytes = static_cast<std::uint32_t>(element_bytes);
  question.commutative = options.op.is_commutative();
  question.rank_order = options.determinism == Determinism::rank_order;
  std::string by_nccl;
  if (options.on_devices) {
    question.on_host = false;
    if (group.device_meeting.state() == detail::DeviceMeeting::State::agreed) {
      question.on_one_device = group.device_path->is_one_device;
      if (group.device_path->link != nullptr) by_nccl = "by NCCL, where it does such a one; else ";
    }
  }
  return by_nccl + group.world->engine->locked(
                       [&](transport::Messenger&) { return detail::channel_of(group).explain(question); });
}

}  // namespace parley
