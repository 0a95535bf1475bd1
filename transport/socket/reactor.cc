#include "transport/socket/reactor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <asio/error_code.hpp>
#include <cerrno>
#include <system_error>

#include "transport/socket/reactor_context.h"

namespace parley::socket {
namespace {

void add_to(int set, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) != 0)
    throw std::system_error(errno, std::system_category(), "epoll_ctl");
}

void empty_doorbell(int fd) noexcept {
  eventfd_t rings = 0;
  [[maybe_unused]] const int result = eventfd_read(fd, &rings);  // EAGAIN: nobody rang
}

}  // namespace

Reactor::Reactor() : impl_(std::make_unique<Impl>()) {
  impl_->wait_set = base::UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  impl_->doorbell = base::UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!impl_->wait_set || !impl_->doorbell)
    throw std::system_error(errno, std::system_category(), "epoll_create1 or eventfd");
  add_to(impl_->wait_set.get(), impl_->doorbell.get());
  impl_->waiter.assign(impl_->wait_set.get());
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
    impl_->waiter.async_wait(asio::posix::stream_descriptor::wait_read,
                             [impl = impl_.get()](const asio::error_code&) { impl->waiting = false; });
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
