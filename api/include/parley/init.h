#pragma once

#include <parley/export.h>
#include <parley/process_group.h>
#include <parley/store.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace parley {

// How this process finds the others. Fields that are set win over `method`, which wins over the environment.
struct InitOptions {
  // "env://": MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE, and LOCAL_RANK if set; none of them set is a world
  // of one. "tcp://host:port?rank=R&world_size=N": rank 0 serves the store at that address.
  std::string method = "env://";
  // A store all ranks share; then `method` is not read, and rank and world_size are required.
  std::shared_ptr<Store> store = nullptr;
  int rank = -1;
  int world_size = -1;
  // The address to listen on and to advertise: an IP address or a name of this host. Empty: PARLEY_HOST, else
  // the address of the route to the store.
  std::string host = {};
  // Proof that the ranks belong together. Empty: PARLEY_SECRET, else the user's cookie file.
  std::string secret = {};
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;  // of operations: PARLEY_TIMEOUT, 30 min
  std::optional<std::chrono::nanoseconds> init_timeout = std::nullopt;  // PARLEY_INIT_TIMEOUT, 5 min
};

// Joins the world and returns it. Blocks until all ranks are connected; names the missing ones every 10 s and
// in the InitError at the deadline. A second call before destroy() is a UsageError. Thread-safety: init and
// destroy from one thread at a time.
PARLEY_API ProcessGroup init(const InitOptions& options);
PARLEY_API ProcessGroup init(const std::string& method = "env://");

[[nodiscard]] PARLEY_API bool is_initialized() noexcept;

// Leaves the world: delivers what was sent, says goodbye, closes every link. Handles of the world throw
// UsageError from now on; init() may be called again. Does nothing when there is no world. The last handle's
// destruction, or the end of the process, does the same.
PARLEY_API void destroy();

}  // namespace parley
