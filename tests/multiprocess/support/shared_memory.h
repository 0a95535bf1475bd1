#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>

namespace parley::testing {

// Bytes of the machine's memory that are shared: all of memfd and /dev/shm.
[[nodiscard]] std::size_t shared_memory_of_the_machine();

// Parley's segments that a process maps, of whichever process: bytes by the kernel's number of each.
[[nodiscard]] std::map<std::uint64_t, std::size_t> segments_mapped_by(pid_t pid);

// How many of them have so many bytes.
[[nodiscard]] std::size_t segments_mapped_by(pid_t pid, std::size_t bytes);

}  // namespace parley::testing
