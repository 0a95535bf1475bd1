#pragma once

#include <parley/types.h>
#include <parley/work.h>

#include <atomic>
#include <coroutine>
#include <exception>
#include <utility>

// co_await on operations, in any coroutine type:
//
//   parley::RecvStatus status = co_await world.irecv(data, 0);
//
// The coroutine goes on with the operation's RecvStatus, or its error is thrown there, as by Work::wait().
// When the operation has ended already it is not suspended. Otherwise it is resumed on whichever thread makes
// progress then (one that waits for something else, one that calls ProcessGroup::progress(), or the
// background thread), with no lock held: it must not block there, and what leaves it as an exception is
// logged and dropped.
//
// Ownership: a Work that is awaited as an rvalue lives in the coroutine until it is resumed; an lvalue is the
// caller's, and is done afterwards. Awaiting takes the Work's only completion function: who called
// Work::then() before gets a UsageError. A coroutine that is suspended here must not be destroyed;
// Work::cancel() (on a Work that is awaited as an lvalue, by the thread that awaits it) or the operation's
// own timeout ends the wait.
namespace parley {
namespace detail {

// `Held` is Work, or a reference to one.
template <typename Held>
class WorkAwaiter {
 public:
  explicit WorkAwaiter(Held&& work) noexcept : work_(std::forward<Held>(work)) {}

  bool await_ready() { return work_.test(); }

  // The completion function may run before then() returns, here or on another thread, and a coroutine that
  // goes on may destroy this object: so whoever comes second, the return of then() or the function, lets it
  // go on. noinline: clang before 17 keeps the locals of an inlined await_suspend() in the coroutine, which
  // may be gone.
  [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> coroutine) {
    work_.then([this, coroutine](const std::exception_ptr&) {
      if (is_second()) coroutine.resume();
    });
    return !is_second();
  }

  RecvStatus await_resume() { return work_.wait(); }

 private:
  // acq_rel: who comes second sees what the first has done.
  bool is_second() noexcept { return one_came_.exchange(true, std::memory_order_acq_rel); }

  Held work_;
  std::atomic<bool> one_came_{false};
};

}  // namespace detail

inline detail::WorkAwaiter<Work&> operator co_await(Work& work) noexcept {
  return detail::WorkAwaiter<Work&>(work);
}
inline detail::WorkAwaiter<Work> operator co_await(Work&& work) noexcept {
  return detail::WorkAwaiter<Work>(std::move(work));
}

}  // namespace parley
