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
  // "env://": the variables of parley-run, torchrun, Open MPI, MPICH, Intel MPI or Slurm, or your own, in the
  // order of the table "Finding the others" in api/README.md; none of them set is a world of one.
  // "tcp://host:port?rank=R&world_size=N": rank 0 serves the store at that address.
  // "file:///path?rank=R&world_size=N": a file that all ranks can open; see make_file_store().
  std::string method = "env://";
  // A store all ranks share; then `method` is not read, and rank and world_size are required.
  std::shared_ptr<Store> store = nullptr;
  int rank = -1;
  int world_size = -1;
  // The address to listen on and to advertise: an IP address or a name of this host. Empty: PARLEY_HOST, else
  // as PARLEY_SOCKET_IFNAME chooses among the interfaces, else the address of the route to the store's host.
  // Where a store of the program's own class keeps its keys is unknown: with one, and more than one rank, one
  // of the three must be set (else UsageError).
  std::string host = {};
  // Proof that the ranks belong together. Empty: see "Secrets" in api/README.md.
  std::string secret = {};
  // Encrypt all connections of the job by TLS 1.3 with a key made from the secret; on all ranks alike, and
  // under a launcher by the variable, for it serves the store. Not given: PARLEY_TLS.
  std::optional<bool> tls = std::nullopt;
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;  // of operations: PARLEY_TIMEOUT, 30 min
  std::optional<std::chrono::nanoseconds> init_timeout = std::nullopt;  // PARLEY_INIT_TIMEOUT, 5 min
};

// Joins the world and returns it. Blocks until all ranks are connected; names the missing ones every 10 s and
// in the InitError at the deadline. A process is in one world at a time: a call while there is one, while
// another thread is in init(), or before a destroy() has returned is a UsageError. In a forked child of a
// process that had a world it is a ForkedError. Thread-safety: safe.
PARLEY_API ProcessGroup init(const InitOptions& options);
PARLEY_API ProcessGroup init(const std::string& method = "env://");

// Whether there is a world: from the return of init() until destroy() is called, or the last handle and the
// last pending operation are gone.
// Never blocks; false in a forked child. Thread-safety: safe, also in a completion function.
[[nodiscard]] PARLEY_API bool is_initialized() noexcept;

// Leaves the world: delivers what was sent, says goodbye, closes every link. Handles of the world throw
// UsageError from now on; init() may be called again when this has returned. Does nothing when there is no
// world, when another thread (or the caller of this completion function) is leaving it already, and in a
// forked child. When the last handle and the last pending operation are gone, the world is left in the same
// way; so it is at the end of the process, which also waits, for 5 s at most, for a thread that is leaving.
// A rank 0 that serves the store ends that 5 s later at the latest; in a world of more than
// PARLEY_FULL_MESH_LIMIT ranks those that were never linked can not be any more then. Thread-safety: safe.
PARLEY_API void destroy();

}  // namespace parley
