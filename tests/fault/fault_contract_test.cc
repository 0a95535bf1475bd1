// Delay, refusal and splitting break no promise: the whole contract suite holds over them,
// whatever transport is inside.
#include "tests/contract/transport/transport_contract.h"
#include "tests/fault/fault_world.h"
#include "tests/fault/inner_worlds.h"

namespace parley::transport::contract {
namespace {

using fault::FaultPlan;
using fault::FaultWorld;
using fault::inner_worlds;

std::vector<ContractCase> with_faults(const std::string& name, const FaultPlan& plan) {
  std::vector<ContractCase> cases;
  for (const auto& inner : inner_worlds()) {
    const auto faulty = [plan, make = inner.make] {
      return std::make_unique<FaultWorld>(make(), [plan](PeerId self) {
        FaultPlan own = plan;
        own.seed += self;
        return own;
      });
    };
    for (const auto& one : both_drives(inner.name + name, faulty)) cases.push_back(one);
  }
  return cases;
}

const FaultPlan no_faults{};
const FaultPlan delays{.seed = 11, .delay_permille = 300, .delay_most = 20};
const FaultPlan refusals{.seed = 22, .refuse_permille = 400, .refuse_most = 10};
const FaultPlan splits{.seed = 33, .split_permille = 700, .split_pieces = 9};
const FaultPlan everything{.seed = 44,
                           .delay_permille = 200,
                           .delay_most = 10,
                           .refuse_permille = 200,
                           .refuse_most = 5,
                           .split_permille = 500,
                           .split_pieces = 3};

INSTANTIATE_TEST_SUITE_P(NoFaults, TransportContract, testing::ValuesIn(with_faults("NoFaults", no_faults)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Delays, TransportContract, testing::ValuesIn(with_faults("Delays", delays)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Refusals, TransportContract, testing::ValuesIn(with_faults("Refusals", refusals)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Splits, TransportContract, testing::ValuesIn(with_faults("Splits", splits)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Everything, TransportContract,
                         testing::ValuesIn(with_faults("Everything", everything)), case_name);

}  // namespace
}  // namespace parley::transport::contract
