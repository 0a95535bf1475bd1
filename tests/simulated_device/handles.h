#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/base/unique_fd.h"
#include "transport/cuda/api.h"

namespace parley::cuda::testing {

// What a handle says: which descriptor of which process is the memory.
struct Export {
  std::int32_t pid = 0;
  std::int32_t fd = -1;
  std::int32_t physical_device = 0;
  std::uint32_t unused = 0;     // no padding: checksum() reads all bytes
  std::uint64_t bytes = 0;      // as asked for; the file has whole pages
  std::uint64_t buffer_id = 0;  // the exporter's
  std::uint64_t inode = 0;      // of the file, for descriptors are numbered anew
  friend bool operator==(const Export&, const Export&) = default;
};

using HandleBytes = std::array<std::byte, 64>;

// The handle of memory of this process. `fd` stays the caller's. Fills in pid, fd and inode.
[[nodiscard]] HandleBytes seal(Export what, int fd);

// Code::invalid_value: these are no bytes of seal().
Code unseal(const HandleBytes& bytes, Export& what);

// A descriptor of our own of another process's export. invalid_context: it is this process's; map_failed: the
// process has gone, or freed it.
Code open_export(const Export& what, base::UniqueFd& fd);

}  // namespace parley::cuda::testing
