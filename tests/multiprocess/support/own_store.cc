#include "tests/multiprocess/support/own_store.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <stdexcept>

#include "transport/base/unique_fd.h"

namespace parley::testing {

namespace {

bool is_free(int port) {
  const base::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace

// Below the ports that the kernel gives to connections: one of those could take it before it is used.
std::string free_address() {
  std::random_device random;
  std::uniform_int_distribution<int> ports(15'000, 31'000);
  for (int tries = 0; tries < 1000; ++tries) {
    const int port = ports(random);
    if (is_free(port) && is_free(port + 1)) return "tcp://127.0.0.1:" + std::to_string(port);
  }
  throw std::runtime_error("no free port");
}

void forget_environment() {
  for (const char* name :
       {"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "PARLEY_STORE"})
    unsetenv(name);
}

ProcessGroup join(const std::string& address, int rank, int count) {
  forget_environment();
  return init(address + "?rank=" + std::to_string(rank) + "&world_size=" + std::to_string(count));
}

}  // namespace parley::testing
