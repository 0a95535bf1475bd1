#pragma once

#include <parley/types.h>

#include <chrono>
#include <memory>
#include <optional>

#include "api/failure.h"
#include "api/wireup/world.h"

namespace parley::detail {

// What a pending Work holds: the request and what is needed to wait for it and to name it.
// Recycled through a list per thread, so that a steady state allocates nothing.
struct Operation {
  wireup::World* world = nullptr;
  transport::Request* request = nullptr;  // null once its outcome was taken
  FailedOperation description;
  std::shared_ptr<const void> owner;   // of the tensor's memory, if it has one
  bool keeps_world = false;            // through Engine::Visit::keep(); else somebody else does
  std::shared_ptr<const void> keeper;  // what Engine::Visit::let_go() has returned

  // For the stack of a call on a group, which keeps the world.
  static Operation within_call(wireup::World& world, transport::Request& request,
                               const FailedOperation& description) {
    return {&world, &request, description, nullptr, false, nullptr};
  }

  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory) noexcept;
};

// How an operation came out.
struct Outcome {
  RecvStatus status;
  std::optional<FailureFacts> failure;  // then there is no status
};

// Takes the outcome of a request that has ended, and releases it. REQUIRES: the engine's lock.
Outcome take_outcome(transport::Request& request, const FailedOperation& description,
                     transport::Messenger& messenger);
// The status of a request that has ended well.
RecvStatus status_of(const transport::Request& request) noexcept;
// Releases the request of an operation and lets go of its world. REQUIRES: it is known how it came out.
void release(Operation& operation, transport::Engine::Visit& visit);
// Takes the outcome of an operation that has ended. If it went well, it lets go of its world, too.
Outcome take_outcome(Operation& operation, transport::Engine::Visit& visit);
// Waits for what was posted in this visit and takes its outcome.
Outcome outcome_of(const transport::Posted& posted, const FailedOperation& description,
                   transport::Engine::Visit& visit);
// Throws the error of a failure. REQUIRES: not the engine's lock.
RecvStatus status_or_throw(const wireup::World& world, const Outcome& outcome);

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
