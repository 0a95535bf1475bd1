#pragma once

#include <parley/export.h>

#include <cstdint>
#include <iosfwd>
#include <string>

namespace parley {

// Where a tensor's memory lies.
struct Device {
  enum Type : std::uint8_t { cpu, cuda };

  Type type = cpu;
  int index = 0;  // number of the GPU; 0 for the CPU

  [[nodiscard]] constexpr bool is_cpu() const noexcept { return type == cpu; }
  friend constexpr bool operator==(const Device&, const Device&) noexcept = default;
};

// "cpu", "cuda:1".
[[nodiscard]] PARLEY_API std::string to_string(Device device);
PARLEY_API std::ostream& operator<<(std::ostream& out, Device device);

// How many CUDA devices this process may use; 0 where there is no CUDA. Opens the driver, so that spawn()
// forks no ranks off this process afterwards (but starts them with {.exec = true}).
[[nodiscard]] PARLEY_API int device_count();

// Where the memory at an address lies, as CUDA says; the CPU where there is no CUDA. Pinned memory is the
// host's, managed memory that of the device it was made for.
[[nodiscard]] PARLEY_API Device device_of(const void* address);

}  // namespace parley
