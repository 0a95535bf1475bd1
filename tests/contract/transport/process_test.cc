// The transports of the suite that can live in processes of their own.
#include "tests/contract/transport/process/process_world.h"
#include "tests/contract/transport/shm_world.h"
#include "tests/contract/transport/tcp_world.h"
#include "tests/contract/transport/transport_contract.h"

namespace parley::transport::contract {
namespace {

INSTANTIATE_TEST_SUITE_P(TcpProcesses, TransportContract,
                         testing::ValuesIn(both_drives_of_processes("Tcp", make_tcp)), case_name);
INSTANTIATE_TEST_SUITE_P(TlsProcesses, TransportContract,
                         testing::ValuesIn(if_tls(both_drives_of_processes("Tls", make_tls))), case_name);

INSTANTIATE_TEST_SUITE_P(ShmProcesses, TransportContract,
                         testing::ValuesIn(both_drives_of_processes("Shm", make_shm)), case_name);
INSTANTIATE_TEST_SUITE_P(ShmWithCmaProcesses, TransportContract,
                         testing::ValuesIn(both_drives_of_processes("ShmCma", make_shm_with_cma)), case_name);
INSTANTIATE_TEST_SUITE_P(ShmWithArenaProcesses, TransportContract,
                         testing::ValuesIn(both_drives_of_processes("ShmArena", make_shm_with_arena)),
                         case_name);

}  // namespace
}  // namespace parley::transport::contract
