#pragma once

#include <cstddef>

#include "tests/contract/transport/transport_world.h"
#include "transport/socket/reactor.h"

namespace parley::transport::contract {

// Where a transport lives that a reactor wakes: each has one of its own, as a process would.
class ReactorSite : public Site {
 public:
  std::size_t poll() override { return reactor_.poll(); }
  void announce_sleep() override { reactor_.announce_sleep(); }
  void cancel_sleep() override { reactor_.cancel_sleep(); }
  void sleep(base::Deadline deadline) override { reactor_.sleep(deadline); }
  base::Doorbell& doorbell() override { return reactor_; }

 protected:
  socket::Reactor reactor_;
};

}  // namespace parley::transport::contract
