#pragma once

#include <parley/store.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace parley::testing {

// The store that spawn() serves to the calling rank's job.
inline std::shared_ptr<Store> open_store() {
  TcpStoreOptions options;
  options.host = std::getenv("MASTER_ADDR");
  options.port = static_cast<std::uint16_t>(std::atoi(std::getenv("MASTER_PORT")));
  return connect_tcp_store(options);
}

}  // namespace parley::testing
