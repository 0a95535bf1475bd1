#pragma once

#include <cstdint>
#include <string_view>

namespace parley::wireup {

// Which transports may link two processes, and what may move large messages beside the link.
struct TransportChoice {
  bool shm = false;
  bool tcp = false;
  bool cma = true;  // cross-memory copies, beside shared memory
};

// The grammar of PARLEY_TRANSPORTS: names with commas between them, of shm and tcp; these are allowed and no
// others. A name after ^ is not allowed; with such names only, all others are. ^cma forbids cross-memory
// copies, which are allowed otherwise. Throws UsageError, also when nothing is left.
TransportChoice parse_transports(std::string_view text);

// As PARLEY_TRANSPORTS says; both when it is not set.
TransportChoice chosen_transports();

// How device memory goes from rank to rank.
enum class DeviceWish : std::uint8_t {
  automatic,  // as fast as is possible
  nccl,       // collectives and batches by NCCL, or an error that says why not
  ipc,        // without NCCL
  staged,     // by way of the host, whatever the devices can do
};
[[nodiscard]] std::string_view name(DeviceWish wish) noexcept;

// As PARLEY_DEVICE_PATH says; automatic when it is not set. Throws UsageError.
DeviceWish chosen_device_path();

// Up to this many ranks all are linked at the start; in larger worlds two ranks are when they first need it.
// As PARLEY_FULL_MESH_LIMIT says, else 32; that of rank 0 counts. Throws UsageError.
int full_mesh_limit();

}  // namespace parley::wireup
