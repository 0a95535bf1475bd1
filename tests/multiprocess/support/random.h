#pragma once

#include <cstddef>
#include <cstdint>

namespace parley::testing {

// splitmix64: small, seeded, the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
  }
  // 0 to bound - 1. REQUIRES: bound > 0.
  std::size_t below(std::size_t bound) noexcept { return static_cast<std::size_t>(next() % bound); }
  bool one_in(std::size_t n) noexcept { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace parley::testing
