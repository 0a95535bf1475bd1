#include "tests/contract/transport/shm_world.h"
#include "tests/contract/transport/transport_contract.h"

namespace parley::transport::contract {
namespace {

INSTANTIATE_TEST_SUITE_P(Shm, TransportContract, testing::ValuesIn(both_drives("Shm", make_shm)), case_name);
INSTANTIATE_TEST_SUITE_P(TightShm, TransportContract,
                         testing::ValuesIn(both_drives("TightShm", make_tight_shm)), case_name);

}  // namespace
}  // namespace parley::transport::contract
