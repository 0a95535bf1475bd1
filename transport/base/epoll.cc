#include "transport/base/epoll.h"

#include <parley/error.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

#include "transport/base/log.h"

namespace parley::base {

void throw_system_error(const char* call, int error) {
  const auto text = concat(call, " failed: ", std::system_category().message(error));
  if (error == EMFILE || error == ENFILE)
    throw ResourceError(text + " (raise the limit of descriptors by ulimit -n)");
  throw SystemError(text);
}

UniqueFd make_epoll_set() {
  UniqueFd set(epoll_create1(EPOLL_CLOEXEC));
  if (!set) throw_system_error("epoll_create1", errno);
  return set;
}

UniqueFd make_event_fd() {
  UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) throw_system_error("eventfd", errno);
  return event;
}

void add_readable(const UniqueFd& set, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(set.get(), EPOLL_CTL_ADD, fd, &event) != 0) throw_system_error("epoll_ctl", errno);
}

void signal_event(const UniqueFd& event) noexcept {
  eventfd_write(event.get(), 1);
}

void clear_event(const UniqueFd& event) noexcept {
  eventfd_t count = 0;
  [[maybe_unused]] const int result = eventfd_read(event.get(), &count);  // EAGAIN: nobody signalled
}

}  // namespace parley::base
