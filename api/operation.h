#pragma once

#include <parley/types.h>

#include <memory>

#include "api/failure.h"
#include "api/wireup/world.h"

namespace parley::detail {

// What a pending Work holds: the request and what is needed to wait for it and to name it.
// Recycled through a list per thread, so that a steady state allocates nothing.
struct Operation {
  std::shared_ptr<wireup::World> world;
  transport::Request* request = nullptr;
  FailedOperation description;
  std::shared_ptr<const void> owner;  // of the tensor's memory, if it has one

  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory) noexcept;
};

// How an ended operation came out. Releases the request; throws its error.
RecvStatus finish(Operation& operation);
// The same when the request is not `done` yet: waits first. Throws TimeoutError, the request pending, after
// `timeout`.
RecvStatus finish_within(Operation& operation, std::chrono::nanoseconds timeout);

// The error of a wait that gave up, the operation still pending.
std::exception_ptr wait_timed_out(const Operation& operation, std::chrono::nanoseconds timeout);

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
