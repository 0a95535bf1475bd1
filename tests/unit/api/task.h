#pragma once

#include <chrono>
#include <coroutine>
#include <exception>
#include <future>
#include <utility>

namespace parley::testing {

// The least that a coroutine needs: it starts at once, and its result, or what it throws, goes to a future.
class Task {
 public:
  struct promise_type {
    std::promise<void> done;

    Task get_return_object() { return Task(done.get_future()); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() { done.set_value(); }
    void unhandled_exception() { done.set_exception(std::current_exception()); }
  };

  // Returns when the coroutine has ended; throws what left it.
  void get() { done_.get(); }
  [[nodiscard]] bool ended() const {
    return done_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

 private:
  explicit Task(std::future<void> done) : done_(std::move(done)) {}
  std::future<void> done_;
};

}  // namespace parley::testing
