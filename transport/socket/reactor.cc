#include "transport/socket/reactor.h"

#include <sys/epoll.h>

#include <asio/error_code.hpp>
#include <system_error>

#include "transport/base/epoll.h"
#include "transport/socket/reactor_context.h"

namespace parley::socket {
namespace {

struct WaitEnded {
  using allocator_type = WaitAllocator<std::byte>;
  Reactor::Impl* impl;
  [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(impl->wait_memory); }
  void operator()(const asio::error_code&) const noexcept {
    impl->waiting = false;
    impl->count_work(-1);
  }
};

std::unique_ptr<Reactor::Impl> make_impl() {
  try {
    return std::make_unique<Reactor::Impl>();
  } catch (const std::system_error& error) {
    base::throw_system_error("Asio's set-up", error.code().value());
  }
}

}  // namespace

Reactor::Reactor() : impl_(make_impl()) {
  impl_->wait_set = base::make_epoll_set();
  impl_->doorbell = base::make_event_fd();
  base::add_readable(impl_->wait_set, impl_->doorbell.get());
  asio::error_code error;
  impl_->waiter.assign(impl_->wait_set.get(), error);
  if (error) base::throw_system_error("Asio's epoll_ctl", error.value());
}

Reactor::~Reactor() {
  impl_->waiter.release();
}

std::size_t Reactor::poll() {
  impl_->context.restart();
  const std::size_t handlers = impl_->context.poll();
  impl_->count_work(static_cast<std::int64_t>(handlers));
  return handlers;
}

std::uint64_t Reactor::work_done() const noexcept {
  return impl_->work_done.load(std::memory_order_relaxed);
}

// seq_cst: before the look for work that follows, see Impl::sleeping.
void Reactor::announce_sleep() noexcept {
  impl_->sleeping.store(true, std::memory_order_seq_cst);
}
// seq_cst as above, though any order would do: who still sees the sleep rings once in vain.
void Reactor::cancel_sleep() noexcept {
  impl_->sleeping.store(false, std::memory_order_seq_cst);
}
void Reactor::end_announced_sleep() noexcept {
  cancel_sleep();
  base::clear_event(impl_->doorbell);
}

void Reactor::sleep(base::Deadline deadline) {
  if (!impl_->waiting) {
    impl_->waiting = true;
    // A wait re-arms the set's edge, so readiness that came before it is seen.
    impl_->waiter.async_wait(asio::posix::stream_descriptor::wait_read, WaitEnded{impl_.get()});
  }
  impl_->context.restart();
  std::size_t handlers =
      deadline.is_never() ? impl_->context.run_one() : impl_->context.run_one_until(deadline.when());
  handlers += impl_->context.poll();
  impl_->count_work(static_cast<std::int64_t>(handlers));
  end_announced_sleep();
}

void Reactor::ring() noexcept {
  // seq_cst: see Impl::sleeping. The load spares the line where nobody sleeps; of many who ring for one sleep
  // the first pays for the system call: a sleeper may be without a core for milliseconds.
  if (impl_->sleeping.load(std::memory_order_seq_cst) &&
      impl_->sleeping.exchange(false, std::memory_order_seq_cst))
    base::signal_event(impl_->doorbell);
}

void Reactor::watch(int fd) {
  base::add_readable(impl_->wait_set, fd);
}
void Reactor::unwatch(int fd) noexcept {
  epoll_ctl(impl_->wait_set.get(), EPOLL_CTL_DEL, fd, nullptr);
}
int Reactor::descriptor() const noexcept {
  return impl_->wait_set.get();
}

}  // namespace parley::socket
