#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/contract/transport/transport_world.h"
#include "transport/base/host.h"
#include "transport/shm/shm_transport.h"
#include "transport/socket/reactor.h"

namespace parley::transport::contract {

// Transports of one job that share memory; each has a reactor of its own, as a process would.
class ShmWorld final : public TransportWorld {
 public:
  explicit ShmWorld(shm::RingShape shape = shm::default_ring) : shape_(shape) {}
  std::unique_ptr<Site> make_site() override { return std::make_unique<ShmSite>(std::byte{1}, shape_); }
  std::unique_ptr<Site> make_stranger_site() override {
    return std::make_unique<ShmSite>(std::byte{2}, shape_);
  }
  // Of another job.
  [[nodiscard]] bool keeps_strangers_out() const override { return true; }
  [[nodiscard]] bool links_to_itself() const override { return false; }
  [[nodiscard]] std::vector<std::string> unreachable_addresses() const override {
    return {"", "/", "no-such-host/0123456789abcdef", base::host_id() + "/nobody", base::host_id() + "/"};
  }

 private:
  class ShmSite final : public Site {
   public:
    ShmSite(std::byte job, shm::RingShape shape) : job_(job), shape_(shape) {}
    std::unique_ptr<Transport> make(PeerId self) override {
      shm::Self options{.number = self, .job = {}, .shape = shape_};
      options.job[0] = job_;
      return std::make_unique<ShmTransport>(reactor_, options);
    }
    std::size_t poll() override { return reactor_.poll(); }
    void announce_sleep() override { reactor_.announce_sleep(); }
    void cancel_sleep() override { reactor_.cancel_sleep(); }
    void sleep(base::Deadline deadline) override { reactor_.sleep(deadline); }
    base::Doorbell& doorbell() override { return reactor_; }

   private:
    const std::byte job_;
    const shm::RingShape shape_;
    socket::Reactor reactor_;
  };

  const shm::RingShape shape_;
};

inline std::unique_ptr<TransportWorld> make_shm() {
  return std::make_unique<ShmWorld>();
}

// Rings that are full all the time.
inline std::unique_ptr<TransportWorld> make_tight_shm() {
  return std::make_unique<ShmWorld>(shm::RingShape{.cells = 8, .payload_bytes = 4096});
}

}  // namespace parley::transport::contract
