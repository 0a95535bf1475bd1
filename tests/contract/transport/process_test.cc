// The transports of the suite that can live in processes of their own.
#include "tests/contract/transport/process/process_world.h"
#include "tests/contract/transport/tcp_world.h"
#include "tests/contract/transport/transport_contract.h"

namespace parley::transport::contract {
namespace {

std::unique_ptr<TransportWorld> make_tcp() {
  return std::make_unique<TcpWorld>();
}

INSTANTIATE_TEST_SUITE_P(TcpProcesses, TransportContract,
                         testing::ValuesIn(both_drives_of_processes("Tcp", make_tcp)), case_name);

}  // namespace
}  // namespace parley::transport::contract
