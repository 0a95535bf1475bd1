#pragma once

#include <parley/export.h>
#include <parley/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace parley {

namespace detail {
struct Operation;
struct OperationRelease {
  PARLEY_API void operator()(Operation* operation) const noexcept;
};
struct WorkAccess;
}  // namespace detail

// One operation under way. The tensor's memory belongs to the operation until wait() returns or throws, or
// test() is true: a sent buffer must not be written, a received one not read.
//
// Destroying a Work whose operation is pending never leaves the buffer in use: an unmatched receive is
// cancelled; anything else is waited for. While an exception unwinds, an unmatched send is taken back, too,
// and the rest waited for 5 s at most, then the group is aborted.
//
// Thread-safety: different Works may be used by different threads; one Work by one thread at a time.
class PARLEY_API Work {
 public:
  Work() noexcept = default;        // done, nothing received
  Work(Work&&) noexcept = default;  // leaves an empty one behind
  Work& operator=(Work&& other) noexcept = default;
  ~Work() = default;

  // Returns when the operation is done; throws its error: TimeoutError when the operation's own deadline
  // passed, PeerDiedError, TruncationError, MismatchError, ... A second call returns or throws the same.
  RecvStatus wait();
  // The same, but gives up after `timeout` with TimeoutError; then the operation is still pending.
  RecvStatus wait(std::chrono::nanoseconds timeout);

  // Of memory on a device an operation is done when it is matched and the device has been told: the test()
  // that finds that, and the wait() that comes first, have the current stream (StreamGuard) go on after it,
  // and block nobody until the device is through. This does block: the elements are there when it returns. Of
  // other memory it is wait().
  RecvStatus synchronize();

  // Makes progress once; whether the operation has ended, well or not. Never throws its error: wait() does.
  bool test();

  // Takes back a receive that no message has matched, or a send that its receiver has not accepted; wait()
  // then throws CancelledError. False: too late, the operation goes on.
  bool cancel();

  // What a finished receive got; for a send, the destination's rank, its tag and bytes.
  [[nodiscard]] int source() const noexcept { return status_.source; }
  [[nodiscard]] std::int64_t tag() const noexcept { return status_.tag; }
  [[nodiscard]] std::size_t bytes() const noexcept { return status_.bytes; }

  // Calls `fn` once when the operation has ended, with its error or nullptr: now if it has ended already,
  // else on whichever thread makes progress, with no lock held. `fn` must not throw and must not block; it
  // may start operations. At most one per Work.
  void then(std::function<void(std::exception_ptr)> fn);

  // Lets go of the operation: it goes on by itself and keeps `owner`, which owns the buffer, until it has
  // ended. An error is logged at warn level. This Work is then empty.
  void detach(std::shared_ptr<const void> owner);

 private:
  friend struct detail::WorkAccess;
  std::unique_ptr<detail::Operation, detail::OperationRelease> operation_;
  RecvStatus status_;
  std::exception_ptr error_;
  std::int16_t device_ = -1;  // where its memory is, if that is a device, and then
  bool owes_order_ = false;   // test() has found its end, and who waits may have another stream
  int stream_ = 0;            // the number of the stream that goes on after it
};

// Waits for all; then throws the first error in the span's order, if any.
PARLEY_API void wait_all(std::span<Work> works);
PARLEY_API void wait_all(std::span<Work> works, std::chrono::nanoseconds timeout);

// Waits until one of them has ended and returns its index; its wait() does not block. REQUIRES: not empty.
// Throws TimeoutError when none ended in time.
PARLEY_API std::size_t wait_any(std::span<Work> works);
PARLEY_API std::size_t wait_any(std::span<Work> works, std::chrono::nanoseconds timeout);

// Makes progress once; the index of one that has ended, if any has.
PARLEY_API std::optional<std::size_t> test_any(std::span<Work> works);

}  // namespace parley
