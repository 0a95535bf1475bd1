#pragma once

#include <cstdint>
#include <string>

namespace parley::bench {

enum class Memory : std::uint8_t { cpu, cuda };

// Where buffers lie: of the ranks that lead a pair (0, 2, ...), and of their partners.
struct DeviceChoice {
  Memory leaders = Memory::cpu;
  Memory partners = Memory::cpu;

  [[nodiscard]] constexpr Memory of(bool leads) const noexcept { return leads ? leaders : partners; }
  [[nodiscard]] constexpr bool has_device() const noexcept {
    return leaders == Memory::cuda || partners == Memory::cuda;
  }
  [[nodiscard]] constexpr bool is_mixed() const noexcept { return leaders != partners; }
};

// As on the command line and in the rows: "cpu", "cuda", "cpu,cuda", "cuda,cpu".
inline std::string to_string(const DeviceChoice& choice) {
  const auto name = [](Memory memory) { return std::string(memory == Memory::cuda ? "cuda" : "cpu"); };
  return choice.is_mixed() ? name(choice.leaders) + "," + name(choice.partners) : name(choice.leaders);
}

}  // namespace parley::bench
