#include "tests/contract/transport/inproc_world.h"
#include "tests/contract/transport/transport_contract.h"

namespace parley::transport::contract {
namespace {

std::unique_ptr<TransportWorld> make_default() {
  return std::make_unique<InprocWorld>();
}

// Refuses early, completes late, lands almost everything.
std::unique_ptr<TransportWorld> make_tight() {
  InprocLimits limits;
  limits.lane_bytes = 20'000;
  limits.lane_packets = 3;
  limits.copy_limit_bytes = 100;
  limits.landing_bytes = 10;
  limits.visit_packets = 1;
  return std::make_unique<InprocWorld>(limits);
}

INSTANTIATE_TEST_SUITE_P(Inproc, TransportContract, testing::ValuesIn(both_drives("Inproc", make_default)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(TightInproc, TransportContract,
                         testing::ValuesIn(both_drives("TightInproc", make_tight)), case_name);

}  // namespace
}  // namespace parley::transport::contract
