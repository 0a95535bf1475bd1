#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/transport/transport_world.h"
#include "transport/fault/fault_transport.h"

namespace parley::transport::fault {

// Another world whose transports have faults; `plan_for` gives each process its own.
class FaultWorld final : public contract::TransportWorld {
 public:
  using PlanFor = std::function<FaultPlan(PeerId)>;

  FaultWorld(std::unique_ptr<contract::TransportWorld> inner, PlanFor plan_for)
      : inner_(std::move(inner)), plan_for_(std::move(plan_for)) {}

  std::unique_ptr<contract::Site> make_site() override {
    return std::make_unique<FaultSite>(inner_->make_site(), plan_for_);
  }
  std::unique_ptr<contract::Site> make_stranger_site() override {
    return std::make_unique<FaultSite>(inner_->make_stranger_site(), plan_for_);
  }
  [[nodiscard]] bool keeps_strangers_out() const override { return inner_->keeps_strangers_out(); }
  [[nodiscard]] bool links_to_itself() const override { return inner_->links_to_itself(); }
  [[nodiscard]] std::vector<std::string> unreachable_addresses() const override {
    return inner_->unreachable_addresses();
  }

 private:
  class FaultSite final : public contract::Site {
   public:
    FaultSite(std::unique_ptr<contract::Site> inner, PlanFor plan_for)
        : inner_(std::move(inner)), plan_for_(std::move(plan_for)) {}
    std::unique_ptr<Transport> make(PeerId self) override {
      return std::make_unique<FaultTransport>(inner_->make(self), plan_for_(self));
    }
    std::size_t poll() override { return inner_->poll(); }
    void announce_sleep() override { inner_->announce_sleep(); }
    void cancel_sleep() override { inner_->cancel_sleep(); }
    void sleep(base::Deadline deadline) override { inner_->sleep(deadline); }
    base::Doorbell& doorbell() override { return inner_->doorbell(); }

   private:
    const std::unique_ptr<contract::Site> inner_;
    const PlanFor plan_for_;
  };

  const std::unique_ptr<contract::TransportWorld> inner_;
  const PlanFor plan_for_;
};

}  // namespace parley::transport::fault
