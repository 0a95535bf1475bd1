#include "tests/contract/transport/tcp_world.h"
#include "tests/contract/transport/transport_contract.h"

namespace parley::transport::contract {
namespace {

INSTANTIATE_TEST_SUITE_P(Tcp, TransportContract, testing::ValuesIn(both_drives("Tcp", make_tcp)), case_name);
INSTANTIATE_TEST_SUITE_P(Tls, TransportContract, testing::ValuesIn(if_tls(both_drives("Tls", make_tls))),
                         case_name);

}  // namespace
}  // namespace parley::transport::contract
