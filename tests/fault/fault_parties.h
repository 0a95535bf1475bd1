#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "tests/contract/transport/party.h"
#include "tests/fault/fault_world.h"

namespace parley::transport::fault {

// Up to three processes in one thread. Process 1 has the plan, the others have no faults.
class FaultParties {
 public:
  FaultParties(std::unique_ptr<contract::TransportWorld> inner, const FaultPlan& plan, std::size_t count)
      : world_(std::move(inner), [plan](PeerId self) { return self == 1 ? plan : FaultPlan{}; }) {
    for (std::size_t i = 0; i < count; ++i)
      parties_.push_back(std::make_unique<contract::Party>(world_.make_site(), static_cast<PeerId>(i)));
    for (std::size_t i = 0; i < count; ++i)
      if (i != 1) party(i).connect(1, party(1).transport().address());
    run([count](contract::Party& one) { return one.links().size() == (one.self() == 1 ? count - 1 : 1); });
  }
  void run(const std::function<bool(contract::Party&)>& finished) {
    contract::run_until(parties_, contract::Drive::one_thread, finished);
  }
  contract::Party& party(std::size_t index) { return *parties_[index]; }
  contract::CheckedLink& sender() { return *party(0).link_to(1); }
  contract::CheckedLink& faulty() { return *party(1).link_to(0); }

 private:
  FaultWorld world_;
  contract::Parties parties_;
};

}  // namespace parley::transport::fault
