#pragma once

#include <parley/types.h>

#include <chrono>
#include <memory>
#include <utility>

#include "api/failure.h"
#include "api/group_state.h"
#include "api/wireup/world.h"
#include "transport/base/read_alone.h"

namespace parley::detail {

// What a pending Work holds: the request and what is needed to wait for it and to name it.
// Recycled through a list per thread, so that a steady state allocates nothing.
struct Operation {
  wireup::World* world;
  transport::Request* request;  // null once its outcome was taken
  FailedOperation description;
  std::shared_ptr<const void> owner;              // of the tensor's memory, if it has one
  bool keeps_world;                               // through Engine::Visit::keep(); else somebody else does
  std::shared_ptr<const void> keeper;             // what Engine::Visit::let_go() has returned
  const GroupState* group;                        // whose ranks its status tells; null: the world's
  std::shared_ptr<const GroupState> keeps_group;  // it, unless somebody else does

  // No aggregate, which would be filled with zeros first: see Request.
  Operation(wireup::World* in_world, transport::Request* for_request, const FailedOperation& described,
            std::shared_ptr<const void> tensor_owner, bool keeps, const GroupState* in_group,
            std::shared_ptr<const GroupState> kept_group) noexcept
      : world(in_world),
        request(for_request),
        description(described),
        owner(std::move(tensor_owner)),
        keeps_world(keeps),
        group(in_group),
        keeps_group(std::move(kept_group)) {}

  // For the stack of a call on a group, which keeps the group and the world.
  static Operation within_call(const GroupState& group, transport::Request& request,
                               const FailedOperation& description);

  // So that this thread can make one without failing, once something has begun whose handle it is. Throws
  // std::bad_alloc.
  static void reserve();
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory) noexcept;
};

// A copy that reads each member by itself: they have just been written so (base::read_alone()).
inline RecvStatus copy_of(const RecvStatus& status) noexcept {
  return {base::read_alone(status.source), base::read_alone(status.tag), base::read_alone(status.bytes)};
}

// How an operation came out.
struct Outcome {
  RecvStatus status;
  std::unique_ptr<FailureFacts> failure;  // then there is no status
};

// To whom a send went, from whom a receive was served; as a rank in `group`; null: in the world.
inline int partner_of(const transport::Request& request, const GroupState* group) noexcept {
  const bool is_send = request.kind == transport::RequestKind::send;
  const auto process = static_cast<int>(is_send ? request.peer->number : request.envelope.source);
  return group == nullptr ? process : group->rank_of(process);
}
// The status of a request that has ended well, in ranks of `group`; null: of the world.
RecvStatus status_on_device(const transport::Request& request, const GroupState* group) noexcept;
inline RecvStatus status_of(const transport::Request& request, const GroupState* group) noexcept {
  if (request.device != nullptr) [[unlikely]]
    return status_on_device(request, group);
  return {partner_of(request, group), request.envelope.tag, request.message_bytes};
}
// Releases the request of an operation and lets go of its world. REQUIRES: it is known how it came out.
inline void release(Operation& operation, transport::Engine::Visit& visit) {
  if (operation.request != nullptr) visit.messenger().release(*std::exchange(operation.request, nullptr));
  if (std::exchange(operation.keeps_world, false)) operation.keeper = visit.let_go();
}
// Takes the outcome of an operation that has ended. If it went well, it lets go of its world, too.
Outcome take_outcome(Operation& operation, transport::Engine::Visit& visit);
// Takes the outcome of a request that has not ended well, or is of a device; or, without a request, that of
// what failed at once.
Outcome take_unusual(const GroupState& group, const transport::Posted& posted,
                     const FailedOperation& description, transport::Engine::Visit& visit);
// Waits for what was posted in this visit and takes its outcome. Without a request and `ok` it has ended
// well.
inline Outcome outcome_of(const GroupState& group, const transport::Posted& posted,
                          const FailedOperation& description, transport::Engine::Visit& visit) {
  transport::Request* const request = posted.request;
  if (request == nullptr && posted.status.ok()) return {};
  if (request != nullptr) visit.wait(*request, no_timeout);
  if (request == nullptr || request->status.failed() || request->device != nullptr) [[unlikely]]
    return take_unusual(group, posted, description, visit);
  Outcome outcome{status_of(*request, &group), nullptr};
  visit.messenger().release(*request);
  return outcome;
}
// Throws the error of a failure. REQUIRES: not the engine's lock.
[[noreturn]] void throw_failure(const wireup::World& world, const FailureFacts& failure);
inline RecvStatus status_or_throw(const wireup::World& world, const Outcome& outcome) {
  if (outcome.failure) [[unlikely]]
    throw_failure(world, *outcome.failure);
  return copy_of(outcome.status);
}

// Waits for an operation and takes its outcome. Throws its error; or TimeoutError, the request still pending,
// after `timeout`.
RecvStatus finish_within(Operation& operation, std::chrono::nanoseconds timeout);

// What is told of a wait that gave up, the operation still pending. REQUIRES: the engine's lock.
FailureFacts wait_timeout_facts(const Operation& operation, std::chrono::nanoseconds timeout,
                                transport::Messenger& messenger);

// Ends an operation whose handle is dropped, so that its buffer is no longer in use, as <parley/work.h> says.
// Nothing to do when it was finished.
void settle(Operation& operation) noexcept;

// A pending operation on the stack of a blocking call: if the call ends early, the operation is settled as a
// dropped Work is.
class PendingOperation {
 public:
  explicit PendingOperation(Operation operation) : operation_(std::move(operation)) {}
  ~PendingOperation() { settle(operation_); }
  PendingOperation(const PendingOperation&) = delete;
  PendingOperation& operator=(const PendingOperation&) = delete;
  RecvStatus finish() { return finish_within(operation_, no_timeout); }

 private:
  Operation operation_;
};

// Throws ForkedError in a child of the process that made the world.
void require_own_process(const wireup::World& world);

}  // namespace parley::detail
