#include "transport/socket/reactor.h"

#include <parley/error.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <asio/error_code.hpp>
#include <cerrno>
#include <system_error>

#include "transport/base/log.h"
#include "transport/socket/reactor_context.h"

namespace parley::socket {
namespace {

[[noreturn]] void fail(const char* call, int error) {
  const auto text = base::concat(call, " failed: ", std::system_category().message(error));
  if (error == EMFILE || error == ENFILE)
    throw ResourceError(text + " (raise the limit of descriptors by ulimit -n)");
  throw SystemError(text);
}

void add_to(int set, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl", errno);
}

void empty_doorbell(int fd) noexcept {
  eventfd_t rings = 0;
  [[maybe_unused]] const int result = eventfd_read(fd, &rings);  // EAGAIN: nobody rang
}

struct WaitEnded {
  using allocator_type = WaitAllocator<std::byte>;
  Reactor::Impl* impl;
  [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(impl->wait_memory); }
  void operator()(const asio::error_code&) const noexcept { impl->waiting = false; }
};

std::unique_ptr<Reactor::Impl> make_impl() {
  try {
    return std::make_unique<Reactor::Impl>();
  } catch (const std::system_error& error) {
    fail("Asio's set-up", error.code().value());
  }
}

}  // namespace

Reactor::Reactor() : impl_(make_impl()) {
  impl_->wait_set = base::UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  if (!impl_->wait_set) fail("epoll_create1", errno);
  impl_->doorbell = base::UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!impl_->doorbell) fail("eventfd", errno);
  add_to(impl_->wait_set.get(), impl_->doorbell.get());
  asio::error_code error;
  impl_->waiter.assign(impl_->wait_set.get(), error);
  if (error) fail("Asio's epoll_ctl", error.value());
}

Reactor::~Reactor() {
  impl_->waiter.release();
}

std::size_t Reactor::poll() {
  impl_->context.restart();
  return impl_->context.poll();
}

void Reactor::announce_sleep() noexcept {
  impl_->sleeping.store(true, std::memory_order_seq_cst);
}
void Reactor::cancel_sleep() noexcept {
  impl_->sleeping.store(false, std::memory_order_seq_cst);
}

void Reactor::sleep(base::Deadline deadline) {
  if (!impl_->waiting) {
    impl_->waiting = true;
    // A wait re-arms the set's edge, so readiness that came before it is seen.
    impl_->waiter.async_wait(asio::posix::stream_descriptor::wait_read, WaitEnded{impl_.get()});
  }
  impl_->context.restart();
  if (deadline.is_never())
    impl_->context.run_one();
  else
    impl_->context.run_one_until(deadline.when());
  impl_->context.poll();
  cancel_sleep();
  empty_doorbell(impl_->doorbell.get());
}

void Reactor::ring() noexcept {
  // seq_cst: see Impl::sleeping.
  if (impl_->sleeping.load(std::memory_order_seq_cst)) eventfd_write(impl_->doorbell.get(), 1);
}

void Reactor::watch(int fd) {
  add_to(impl_->wait_set.get(), fd);
}
void Reactor::unwatch(int fd) noexcept {
  epoll_ctl(impl_->wait_set.get(), EPOLL_CTL_DEL, fd, nullptr);
}
int Reactor::descriptor() const noexcept {
  return impl_->wait_set.get();
}

}  // namespace parley::socket
