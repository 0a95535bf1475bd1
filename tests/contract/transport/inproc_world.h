#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/contract/transport/transport_world.h"
#include "transport/base/parker.h"
#include "transport/inproc/inproc_transport.h"

namespace parley::transport::contract {

// Transports of one hub; each sleeps on a parker.
class InprocWorld final : public TransportWorld {
 public:
  explicit InprocWorld(InprocLimits limits = {}) : hub_(limits) {}

  std::unique_ptr<Site> make_site() override { return std::make_unique<InprocSite>(hub_); }
  [[nodiscard]] bool links_to_itself() const override { return true; }
  [[nodiscard]] std::vector<std::string> unreachable_addresses() const override {
    return {"inproc:424242", "inproc:", "inproc:x", "inproc:1x", "", "elsewhere:1"};
  }

 private:
  struct ParkerBell final : base::Doorbell {
    void ring() noexcept override { parker.unpark(); }
    base::Parker parker;
  };
  class InprocSite final : public Site {
   public:
    explicit InprocSite(InprocHub& hub) : hub_(hub) {}
    std::unique_ptr<Transport> make(PeerId self) override {
      return std::make_unique<InprocTransport>(hub_, self, &bell_);
    }
    void sleep(base::Deadline deadline) override { bell_.parker.park(deadline); }
    base::Doorbell& doorbell() override { return bell_; }

   private:
    InprocHub& hub_;
    ParkerBell bell_;
  };

  InprocHub hub_;
};

}  // namespace parley::transport::contract
