#pragma once

#include <parley/tensor.h>
#include <parley/types.h>
#include <parley/work.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

#include "api/checks.h"
#include "api/failure.h"
#include "api/group_state.h"
#include "api/operation.h"
#include "api/work_access.h"

namespace parley::detail {

// From checked arguments to the engine. All of them throw UsageError for misuse.

// What the next two check first.
inline void check_send(const GroupState& group, const Tensor& tensor, int destination, std::int64_t tag) {
  check_destination(group, destination, tag);
  check_tensor(tensor, "send", false);
}
inline void check_receive(const GroupState& group, const Tensor& tensor, int source, std::int64_t tag) {
  check_source(group, source, tag, "recv");
  check_tensor(tensor, "recv", true);
}
// Whether a caller that gave this timeout means to go on when it passes (Request::gives_up).
inline bool gives_up(const std::optional<std::chrono::nanoseconds>& timeout) {
  return timeout.value_or(no_timeout) != no_timeout;
}
inline transport::Pattern pattern_of(const GroupState& group, int source, std::int64_t tag) {
  const auto process =
      source == any_source ? transport::any_source : static_cast<std::uint32_t>(group.process_of(source));
  return {group.context, process, tag};
}
// Of what was checked by check_send() or check_receive().
inline transport::SendSpec checked_send_spec(const GroupState& group, const Tensor& tensor, int destination,
                                             std::int64_t tag,
                                             const std::optional<std::chrono::nanoseconds>& timeout) {
  return {.destination = static_cast<std::uint32_t>(group.process_of(destination)),
          .context = group.context,
          .tag = tag,
          .type_code = static_cast<std::uint8_t>(tensor.dtype()),
          .data = tensor.data(),
          .bytes = tensor.bytes(),
          .timeout = timeout.value_or(group.world->timeout),
          .gives_up = gives_up(timeout)};
}
inline transport::ReceiveSpec checked_receive_spec(const GroupState& group, const Tensor& tensor, int source,
                                                   std::int64_t tag,
                                                   const std::optional<std::chrono::nanoseconds>& timeout) {
  return {.pattern = pattern_of(group, source, tag),
          .type_code = static_cast<std::uint8_t>(tensor.dtype()),
          .data = tensor.mutable_data(),
          .capacity_bytes = tensor.bytes(),
          .timeout = timeout.value_or(group.world->timeout),
          .gives_up = gives_up(timeout)};
}
// The same, and checks.
inline transport::SendSpec send_spec(const GroupState& group, const Tensor& tensor, int destination,
                                     const SendOptions& options) {
  check_send(group, tensor, destination, options.tag);
  transport::SendSpec spec = checked_send_spec(group, tensor, destination, options.tag, options.timeout);
  spec.synchronous = options.synchronous;
  return spec;
}
inline transport::ReceiveSpec receive_spec(const GroupState& group, const Tensor& tensor, int source,
                                           const RecvOptions& options) {
  check_receive(group, tensor, source, options.tag);
  return checked_receive_spec(group, tensor, source, options.tag, options.timeout);
}
inline FailedOperation describe(const transport::SendSpec& spec) noexcept {
  return {"send", spec.context, static_cast<int>(spec.destination), spec.tag, spec.bytes};
}
inline FailedOperation describe(const transport::ReceiveSpec& spec) noexcept {
  static_assert(static_cast<int>(transport::any_source) == any_source && transport::any_tag == any_tag);
  const auto& [context, source, tag] = spec.pattern;
  return {"recv", context, static_cast<int>(source), tag, spec.capacity_bytes};
}
// Makes an empty Work the handle of what was posted in this visit. The world's own handles may go before its
// operations; other groups last as long as these.
template <typename Spec>
void begin_work(Work& work, const std::shared_ptr<GroupState>& group, const Tensor& tensor,
                transport::Request& request, const Spec& spec, transport::Engine::Visit& visit) {
  const bool is_world = group->is_world();
  WorkAccess::begin(work, new Operation(group->world.get(), &request, describe(spec), tensor.owner(), true,
                                        is_world ? nullptr : group.get(), is_world ? nullptr : group));
  if (!tensor.device().is_cpu()) [[unlikely]]
    WorkAccess::set_device(work, tensor.device().index);
  visit.keep(group->world);
}
// Posts what a spec says. Makes `work`, which is empty, its handle. A failed status: it
// failed at once, and the Work stays empty.
base::Status post_send(Work& work, const std::shared_ptr<GroupState>& group, const Tensor& tensor,
                       int destination, const transport::SendSpec& spec, transport::Engine::Visit& visit);
base::Status post_receive(Work& work, const std::shared_ptr<GroupState>& group, const Tensor& tensor,
                          const transport::ReceiveSpec& spec, transport::Engine::Visit& visit);

// The error of an operation that failed at once. REQUIRES: not the engine's lock.
std::exception_ptr failure_of(const GroupState& group, const FailedOperation& operation, base::Status status);
// Throws it.
[[noreturn]] void throw_failure(const GroupState& group, const FailedOperation& operation,
                                base::Status status);

}  // namespace parley::detail
