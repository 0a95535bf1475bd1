#include <parley/error.h>
#include <parley/process_group.h>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "api/checks.h"
#include "api/device_path.h"
#include "api/on_device.h"
#include "api/operation.h"
#include "api/posting.h"
#include "api/work_access.h"
#include "transport/base/log.h"

namespace parley {

using detail::FailedOperation;
using detail::GroupState;
using detail::Operation;
using detail::Outcome;
using detail::WorkAccess;
using transport::Endpoint;
using transport::Engine;
using transport::Messenger;
using transport::Posted;

namespace detail {

base::Status post_send(Work& work, const std::shared_ptr<GroupState>& group, const Tensor& tensor,
                       int destination, const transport::SendSpec& spec, transport::Engine::Visit& visit) {
  Operation::reserve();
  const Posted posted = post(visit, *group, tensor, spec, true);
  if (posted.request != nullptr)
    begin_work(work, group, tensor, *posted.request, spec, visit);
  else if (posted.status.ok())
    WorkAccess::set_status(work, {destination, spec.tag, spec.bytes});
  else
    return posted.status;
  return {};
}

base::Status post_receive(Work& work, const std::shared_ptr<GroupState>& group, const Tensor& tensor,
                          const transport::ReceiveSpec& spec, transport::Engine::Visit& visit) {
  Operation::reserve();
  const Posted posted = post(visit, *group, tensor, spec, true);
  if (posted.request == nullptr) return posted.status;
  begin_work(work, group, tensor, *posted.request, spec, visit);
  return {};
}

std::exception_ptr failure_of(const GroupState& group, const FailedOperation& operation,
                              base::Status status) {
  const FailureFacts facts = group.world->engine->locked(
      [&](Messenger& messenger) { return facts_of(operation, status, messenger); });
  return to_exception(*group.world, facts);
}

void throw_failure(const GroupState& group, const FailedOperation& operation, base::Status status) {
  std::rethrow_exception(failure_of(group, operation, status));
}

}  // namespace detail

using detail::require_group;
using detail::require_member;

int ProcessGroup::rank() const {
  return require_group(state_).rank;
}
int ProcessGroup::size() const {
  return require_group(state_).size;
}
int ProcessGroup::local_rank() const {
  return require_group(state_).world->local_rank;
}

void ProcessGroup::send(const Tensor& tensor, int destination, const SendOptions& options) {
  GroupState& group = require_member(state_, "send");
  const transport::SendSpec spec = detail::send_spec(group, tensor, destination, options);
  const Outcome outcome = [&]() -> Outcome {
    Engine::Visit visit(*group.world->engine);
    const Posted posted = detail::post(visit, group, tensor, spec, false);
    return detail::outcome_of(group, posted, detail::describe(spec), visit);
  }();
  detail::status_or_throw(*group.world, outcome);
}

RecvStatus ProcessGroup::recv(const Tensor& tensor, int source, const RecvOptions& options) {
  GroupState& group = require_member(state_, "recv");
  const transport::ReceiveSpec spec = detail::receive_spec(group, tensor, source, options);
  const Outcome outcome = [&] {
    Engine::Visit visit(*group.world->engine);
    const Posted posted = detail::post(visit, group, tensor, spec, false);
    return detail::outcome_of(group, posted, detail::describe(spec), visit);
  }();
  return detail::status_or_throw(*group.world, outcome);
}

Work ProcessGroup::isend(const Tensor& tensor, int destination, const SendOptions& options) {
  GroupState& group = require_member(state_, "isend");
  transport::SendSpec spec = detail::send_spec(group, tensor, destination, options);
  spec.urgency = Endpoint::Urgency::batch;
  Work work;
  // Before the lock, which has it all stored: the caller moves it at once, by loads that are wider.
  WorkAccess::set_status(work, {destination, options.tag, spec.bytes});
  const Posted posted = [&] {
    Engine::Visit visit(*group.world->engine);
    Operation::reserve();
    const Posted sent = detail::post(visit, group, tensor, spec, true);
    if (sent.request != nullptr) detail::begin_work(work, state_, tensor, *sent.request, spec, visit);
    return sent;
  }();
  if (posted.request == nullptr && !posted.status.ok())
    detail::throw_failure(group, detail::describe(spec), posted.status);
  return work;
}

Work ProcessGroup::irecv(const Tensor& tensor, int source, const RecvOptions& options) {
  GroupState& group = require_member(state_, "irecv");
  const transport::ReceiveSpec spec = detail::receive_spec(group, tensor, source, options);
  Work work;
  const Posted posted = [&] {
    Engine::Visit visit(*group.world->engine);
    Operation::reserve();
    const Posted received = detail::post(visit, group, tensor, spec, true);
    if (received.request != nullptr) detail::begin_work(work, state_, tensor, *received.request, spec, visit);
    return received;
  }();
  if (posted.request == nullptr) detail::throw_failure(group, detail::describe(spec), posted.status);
  return work;
}

RecvStatus ProcessGroup::sendrecv(const Tensor& out, int destination, const Tensor& in, int source,
                                  const SendRecvOptions& options) {
  Work received = irecv(in, source, {.tag = options.recv_tag, .timeout = options.timeout});
  Work sent = isend(out, destination, {.tag = options.send_tag, .timeout = options.timeout});
  const RecvStatus status = received.wait();
  sent.wait();
  return status;
}

Tensor ProcessGroup::shared_tensor(const Shape& shape, DType dtype) {
  const GroupState& group = require_group(state_);
  // Any address does to check the shape, before memory is taken.
  static std::byte somewhere{};
  const std::size_t bytes = Tensor::from_blob(&somewhere, shape, dtype).bytes();
  try {
    auto memory = group.world->allocate_shared(bytes);
    if (memory) return Tensor::adopt(std::move(memory).value(), shape, dtype);
    PARLEY_LOG(info, "shm",
               "a shared tensor lies in memory of this process alone: ", memory.failure().message);
  } catch (const std::bad_alloc&) {  // then so does this one
  }
  return Tensor::empty(shape, dtype);
}

void ProcessGroup::acknowledge_failures() {
  const GroupState& group = require_member(state_, "acknowledge_failures");
  group.world->engine->locked([&](Messenger& messenger) {
    for (const std::uint32_t context : group.all_contexts.all()) messenger.acknowledge_failures(context);
  });
}

std::size_t ProcessGroup::progress() {
  return require_group(state_).world->engine->progress();
}

int ProcessGroup::fd() const {
  return require_group(state_).world->engine->descriptor();
}

void ProcessGroup::abort(std::string_view reason) {
  GroupState& group = require_member(state_, "abort");
  for (const std::uint32_t context : group.all_contexts.all())
    group.world->engine->abort_context(context, reason);
}

std::string ProcessGroup::describe() const {
  const GroupState& group = require_group(state_);
  const wireup::World& world = *group.world;
  std::string text =
      base::concat(world.name_of(world.rank), " of ", world.size, ", found by ", world.described);
  if (!group.is_world()) text += base::concat("\n  ", detail::text_of(group), " of the world");
  for (int member = 0; member < group.size; ++member) {
    const int rank = group.process_of(member);
    if (rank == world.rank) continue;
    text += base::concat("\n  ", world.describe_link(rank));
  }
  if (const std::string devices = detail::describe_device_path(group); !devices.empty())
    text += base::concat("\n  ", devices);
  return text;
}

}  // namespace parley
