#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <atomic>

#include "transport/base/unique_fd.h"
#include "transport/socket/reactor.h"

namespace parley::socket {

struct Reactor::Impl {
  // Two levels of waiting: `wait_set` is an epoll set of the doorbell and the watched descriptors, and Asio
  // waits for that set as for any other descriptor.
  asio::io_context context;
  base::UniqueFd wait_set;
  base::UniqueFd doorbell;  // eventfd
  asio::posix::stream_descriptor waiter{context};
  bool waiting = false;  // an async_wait on `waiter` is under way

  // Sleeper: sleeping = true; fence; look for work. Ringer: work; fence; look at sleeping. Both accesses are
  // seq_cst so that at least one of the two sees the other.
  std::atomic<bool> sleeping{false};
};

}  // namespace parley::socket
