#pragma once

#include <parley/export.h>
#include <parley/process_group.h>
#include <parley/types.h>
#include <parley/work.h>

#include <chrono>
#include <memory>
#include <span>

namespace parley {

namespace detail {
class Prepared;
struct PersistentAccess;
}  // namespace detail

// A send or receive that is checked once, by ProcessGroup::send_init() or recv_init(), and started many
// times: what MPI calls a persistent request. Each start is an isend() or irecv() of the same tensor with the
// same arguments, and matches like one; starting allocates nothing once the first few have ended.
//
// It is active from start() until the operation is known to have ended (wait() returned or threw, or work()
// was found to be done); until then the tensor's memory belongs to it. Destroying it while it is active is
// like destroying the Work. Thread-safety: one thread at a time.
class [[nodiscard, gnu::visibility("default")]] PersistentRequest {
 public:
  PersistentRequest() noexcept;  // of nothing: start() throws UsageError
  PersistentRequest(PersistentRequest &&) noexcept;
  PersistentRequest& operator=(PersistentRequest&&) noexcept;
  ~PersistentRequest();

  // Throws UsageError while it is active, and what isend() and irecv() throw when they fail at once.
  void start();

  // Of the operation started last; before the first start it is done. Not to be moved from.
  [[nodiscard]] Work& work() noexcept {
    return work_;
  }
  RecvStatus wait() {
    return work_.wait();
  }
  RecvStatus wait(std::chrono::nanoseconds timeout) {
    return work_.wait(timeout);
  }
  [[nodiscard]] bool is_active() const noexcept;

 private:
  friend struct detail::PersistentAccess;
  std::unique_ptr<const detail::Prepared> prepared_;
  Work work_;
};

// Starts all of them like a batch: receives before sends, and what goes to one rank leaves together. What
// fails at once says so when it is waited for. Throws UsageError, and starts nothing, when one of them is
// active or of nothing, or they are of different worlds.
PARLEY_API void start_all(std::span<PersistentRequest> requests);

// Waits for all; then throws the first error in the span's order, if any.
PARLEY_API void wait_all(std::span<PersistentRequest> requests);

}  // namespace parley
