#include "tests/multiprocess/support/own_store.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace parley::testing {

std::string free_address() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  close(fd);
  if (!bound) throw std::runtime_error("no free port");
  return "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
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
