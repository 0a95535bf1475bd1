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

}  // namespace parley
