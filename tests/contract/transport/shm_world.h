#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/transport/moved/moved_transport.h"
#include "tests/contract/transport/reactor_site.h"
#include "tests/contract/transport/transport_world.h"
#include "transport/base/host.h"
#include "transport/shm/shm_transport.h"

namespace parley::transport::contract {

// How large packets travel over shared memory.
enum class LargeBy : unsigned char {
  link,
  cross_memory,  // pulled out of the sender's process
  arena,         // pulled out of memory that both have mapped
};

// Transports of one job that share memory.
class ShmWorld final : public TransportWorld {
 public:
  explicit ShmWorld(shm::RingShape shape = shm::default_ring, LargeBy large = LargeBy::link)
      : shape_(shape), large_(large) {}
  std::unique_ptr<Site> make_site() override {
    return std::make_unique<ShmSite>(std::byte{1}, shape_, large_);
  }
  std::unique_ptr<Site> make_stranger_site() override {
    return std::make_unique<ShmSite>(std::byte{2}, shape_, large_);
  }
  // Of another job.
  [[nodiscard]] bool keeps_strangers_out() const override { return true; }
  [[nodiscard]] bool links_to_itself() const override { return false; }
  [[nodiscard]] std::vector<std::string> unreachable_addresses() const override {
    return {"", "/", "no-such-host/0123456789abcdef", base::host_id() + "/nobody", base::host_id() + "/"};
  }

 private:
  class ShmSite final : public ReactorSite {
   public:
    ShmSite(std::byte job, shm::RingShape shape, LargeBy large) : job_(job), shape_(shape), large_(large) {}
    std::unique_ptr<Transport> make(PeerId self) override {
      shm::Self options{.number = self, .job = {}, .shape = shape_};
      options.job[0] = job_;
      Lend lend;
      if (large_ == LargeBy::cross_memory) options.cross_memory = shm::CrossMemory::create();
      if (large_ == LargeBy::arena) {
        options.arena = shm::Arena::create();
        lend = [arena = options.arena](std::size_t bytes) { return arena->allocate(bytes).value(); };
      }
      auto transport = std::make_unique<ShmTransport>(reactor_, options);
      if (large_ == LargeBy::link) return transport;
      return std::make_unique<MovedTransport>(std::move(transport), std::move(lend));
    }

   private:
    const std::byte job_;
    const shm::RingShape shape_;
    const LargeBy large_;
  };

  const shm::RingShape shape_;
  const LargeBy large_;
};

inline std::unique_ptr<TransportWorld> make_shm() {
  return std::make_unique<ShmWorld>();
}

inline std::unique_ptr<TransportWorld> make_shm_with_cma() {
  return std::make_unique<ShmWorld>(shm::default_ring, LargeBy::cross_memory);
}

inline std::unique_ptr<TransportWorld> make_shm_with_arena() {
  return std::make_unique<ShmWorld>(shm::default_ring, LargeBy::arena);
}

// Rings that are full all the time.
inline std::unique_ptr<TransportWorld> make_tight_shm() {
  return std::make_unique<ShmWorld>(shm::RingShape{.cells = 8, .payload_bytes = 4096});
}

}  // namespace parley::transport::contract
