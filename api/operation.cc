#include "api/operation.h"

#include <parley/error.h>

#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "api/fused_batch.h"
#include "api/group_state.h"
#include "api/on_device.h"
#include "transport/base/log.h"

namespace parley::detail {

using transport::Messenger;
using transport::Request;
using transport::RequestState;

namespace {

struct Spare {
  Spare* next;
};

// Freed operations of this thread, the last one first. Has no destructor: it is used without a look whether
// it was constructed, and for operations that are freed while the thread ends.
struct Spares {
  Spare* first;
  std::size_t room;  // for so many more; 0 at first, and when the thread ends
  bool has_closer;
};
constinit thread_local Spares spares{nullptr, 0, false};

struct SparesCloser {
  SparesCloser() noexcept { spares = {nullptr, 256, true}; }
  ~SparesCloser() {
    spares.room = 0;
    while (spares.first != nullptr) ::operator delete(std::exchange(spares.first, spares.first->next));
  }
};

// With the first operation that this thread frees. False: there is no room for it.
bool make_room() noexcept {
  if (spares.has_closer) return false;
  thread_local const SparesCloser closer;
  return true;
}

// Has an operation end whose handle is dropped, or its context.
void end(Operation& operation) {
  transport::Engine& engine = *operation.world->engine;
  const bool unwinding = std::uncaught_exceptions() > 0;
  engine.locked([&](Messenger& messenger) {
    // An unmatched send is taken back during an exception only: else the peer shall get it. Waiting for it
    // then would have two ranks that both unwind wait for each other.
    if (unwinding || operation.request->state == RequestState::posted)
      messenger.cancel(*operation.request, base::Code::cancelled);
  });
  if (engine.wait(*operation.request, unwinding ? wireup::default_linger : no_timeout)) return;
  engine.abort_context(operation.description.context, "a pending operation was dropped during an exception");
  engine.wait(*operation.request, no_timeout);
}

}  // namespace

void Operation::reserve() {
  if (spares.first == nullptr) [[unlikely]]
    Operation::operator delete(Operation::operator new(sizeof(Operation)));
}

void* Operation::operator new(std::size_t bytes) {
  if (spares.first == nullptr) [[unlikely]]
    return ::operator new(bytes);
  ++spares.room;
  return std::exchange(spares.first, spares.first->next);
}

void Operation::operator delete(void* memory) noexcept {
  if (spares.room == 0 && !make_room()) [[unlikely]]
    return ::operator delete(memory);
  --spares.room;
  spares.first = ::new (memory) Spare{spares.first};
}

Operation Operation::within_call(const GroupState& group, Request& request,
                                 const FailedOperation& description) {
  return {group.world.get(), &request, description, nullptr, false, &group, nullptr};
}

// What NCCL has moved beside a message without content stands in that one's tag.
RecvStatus status_on_device(const Request& request, const GroupState* group) noexcept {
  const int rank = partner_of(request, group);
  if (wireup::is_fused_batch_context(request.envelope.context))
    return {rank, 0, FusedTag::unpack(request.envelope.tag).bytes};
  return {rank, request.envelope.tag, request.message_bytes};
}

namespace {

// Takes the outcome of a request that has ended, and releases it. REQUIRES: the engine's lock.
Outcome take_outcome(Request& request, const GroupState* group, const FailedOperation& description,
                     Messenger& messenger) {
  Outcome outcome;
  order_stream(request);
  if (request.status.ok())
    outcome.status = status_of(request, group);
  else
    outcome.failure = std::make_unique<FailureFacts>(facts_of(description, request, messenger));
  messenger.release(request);
  return outcome;
}

}  // namespace

Outcome take_outcome(Operation& operation, transport::Engine::Visit& visit) {
  Outcome outcome =
      take_outcome(*operation.request, operation.group, operation.description, visit.messenger());
  operation.request = nullptr;
  if (!outcome.failure) release(operation, visit);  // an error is still to be told with what the world knows
  return outcome;
}

Outcome take_unusual(const GroupState& group, const transport::Posted& posted,
                     const FailedOperation& description, transport::Engine::Visit& visit) {
  if (posted.request == nullptr)
    return {{}, std::make_unique<FailureFacts>(facts_of(description, posted.status, visit.messenger()))};
  return take_outcome(*posted.request, &group, description, visit.messenger());
}

void throw_failure(const wireup::World& world, const FailureFacts& failure) {
  std::rethrow_exception(to_exception(world, failure));
}

RecvStatus finish_within(Operation& operation, std::chrono::nanoseconds timeout) {
  const Outcome outcome = [&] {
    transport::Engine::Visit visit(*operation.world->engine);
    if (!visit.wait(*operation.request, timeout))
      return Outcome{
          {}, std::make_unique<FailureFacts>(wait_timeout_facts(operation, timeout, visit.messenger()))};
    return take_outcome(operation, visit);
  }();
  return status_or_throw(*operation.world, outcome);
}

void settle(Operation& operation) noexcept {
  const bool is_finished = operation.request == nullptr && !operation.keeps_world;
  if (is_finished || operation.world->engine->in_forked_child()) return;
  try {
    if (operation.request != nullptr) end(operation);
    transport::Engine::Visit visit(*operation.world->engine);
    release(operation, visit);
  } catch (const std::exception& error) {
    PARLEY_LOG(error, "p2p", "while dropping an operation: ", error.what());
  }
}

FailureFacts wait_timeout_facts(const Operation& operation, std::chrono::nanoseconds timeout,
                                Messenger& messenger) {
  FailureFacts facts = facts_of(operation.description, base::Code::timed_out, messenger);
  facts.elapsed = timeout;
  facts.extra = facts.extra.empty() ? "the operation is still pending"
                                    : "the operation is still pending; " + facts.extra;
  return facts;
}

void require_own_process(const wireup::World& world) {
  if (!world.engine->in_forked_child()) return;
  ErrorDetails details;
  details.rank = world.rank;
  throw ForkedError("Parley cannot be used in a forked child: the world belongs to the parent process",
                    details);
}

}  // namespace parley::detail
