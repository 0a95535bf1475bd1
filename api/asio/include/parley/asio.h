#pragma once

#include <fcntl.h>
#include <parley/process_group.h>
#include <parley/work.h>

#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/error_code.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <atomic>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

// Parley in a program that runs on Asio. Header-only; needs Asio 1.22 or newer beside Parley, of the
// program's own choice: the library itself shares nothing with it.
namespace parley {
namespace detail {

// One operation on its way to a handler.
template <typename Handler>
class AsioWait : public std::enable_shared_from_this<AsioWait<Handler>> {
 public:
  AsioWait(Work work, Handler handler)
      : work_(std::move(work)),
        handler_(std::move(handler)),
        guard_(asio::get_associated_executor(handler_)) {}

  // One thread at a time may use a Work, and its completion function may run before then() has returned:
  // whoever comes second posts the handler.
  void start() {
    try {
      work_.then([self = this->shared_from_this()](const std::exception_ptr&) { self->one_came(); });
    } catch (...) {
      refused_ = std::current_exception();
      one_came();
    }
    one_came();
  }

 private:
  void one_came() {
    // acq_rel: who comes second sees what the first has done.
    if (!came_.exchange(true, std::memory_order_acq_rel)) return;
    // Until post() has returned: else run() could, and the io_context end, while this thread is still inside.
    const auto until_posted = guard_;
    asio::post(until_posted.get_executor(), [self = this->shared_from_this()] { self->finish(); });
  }
  void finish() {
    std::exception_ptr error = refused_;
    RecvStatus status;
    try {
      if (!error) status = work_.wait();
    } catch (...) {
      error = std::current_exception();
    }
    // The handler may start the next operation: nothing of this one is held meanwhile.
    const auto guard = std::move(guard_);
    Handler handler = std::move(handler_);
    work_ = Work();
    std::move(handler)(error, status);
  }

  Work work_;
  Handler handler_;
  asio::executor_work_guard<asio::associated_executor_t<Handler>> guard_;
  std::exception_ptr refused_;
  std::atomic<bool> came_{false};
};

}  // namespace detail

// Waits for an operation in Asio's way. `token` is any completion token for void(std::exception_ptr,
// RecvStatus): a function, asio::use_future, asio::use_awaitable, ... The handler is posted to its associated
// executor, never called from within; give one to a plain function by asio::bind_executor(), or Asio's system
// executor runs it. The executor has outstanding work until then. Takes the Work's only completion function:
// after Work::then() the result is UsageError. The operation ends by itself, by its timeout, or with its
// group: Asio's cancellation does not reach it.
template <typename Token>
auto async_wait(Work work, Token&& token) {
  return asio::async_initiate<Token, void(std::exception_ptr, RecvStatus)>(
      [](auto&& handler, Work started) {
        using Handler = std::decay_t<decltype(handler)>;
        std::make_shared<detail::AsioWait<Handler>>(std::move(started),
                                                    std::forward<decltype(handler)>(handler))
            ->start();
      },
      token, std::move(work));
}

// Makes a group's progress on an io_context: operations of that group's world end as soon as a thread in
// run() sees what they wait for, without Parley's background thread. While it exists, run() does not return
// for want of work. Destroy it before parley::destroy(): an exception of ProcessGroup::progress() leaves
// run(). Thread-safety: as other Asio objects: one thread at a time, unless the io_context runs in one thread
// only.
class AsioProgress {
 public:
  AsioProgress(asio::io_context& context, ProcessGroup group)
      : loop_(std::make_shared<Loop>(context, std::move(group))) {
    Loop::next(loop_);
  }
  ~AsioProgress() {
    asio::error_code ignored;
    loop_->stopped = true;
    loop_->descriptor.close(ignored);
  }
  AsioProgress(const AsioProgress&) = delete;
  AsioProgress& operator=(const AsioProgress&) = delete;

 private:
  struct Loop {
    // A descriptor of its own, for Asio closes it.
    Loop(asio::io_context& context, ProcessGroup of)
        : group(std::move(of)), descriptor(context, ::fcntl(group.fd(), F_DUPFD_CLOEXEC, 0)) {}

    // Other handlers have their turn between two calls of progress().
    static void next(const std::shared_ptr<Loop>& loop) {
      if (loop->stopped) return;
      if (loop->group.progress() != 0)
        asio::post(loop->descriptor.get_executor(), [loop] { next(loop); });
      else
        loop->descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                    [loop](const asio::error_code& error) {
                                      if (!error) next(loop);
                                    });
    }

    ProcessGroup group;
    asio::posix::stream_descriptor descriptor;
    bool stopped = false;
  };

  std::shared_ptr<Loop> loop_;
};

}  // namespace parley
