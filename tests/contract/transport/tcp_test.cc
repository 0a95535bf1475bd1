#include "tests/contract/transport/tcp_world.h"
#include "tests/contract/transport/transport_contract.h"
#include "transport/socket/secure_stream.h"

namespace parley::transport::contract {
namespace {

std::unique_ptr<TransportWorld> make_tcp() {
  return std::make_unique<TcpWorld>();
}

std::unique_ptr<TransportWorld> make_tls() {
  return std::make_unique<TcpWorld>(true);
}

// Nothing in a build that has no TLS.
std::vector<ContractCase> encrypted_cases() {
  return socket::tls_available() ? both_drives("Tls", make_tls) : std::vector<ContractCase>();
}

INSTANTIATE_TEST_SUITE_P(Tcp, TransportContract, testing::ValuesIn(both_drives("Tcp", make_tcp)), case_name);
INSTANTIATE_TEST_SUITE_P(Tls, TransportContract, testing::ValuesIn(encrypted_cases()), case_name);

}  // namespace
}  // namespace parley::transport::contract
