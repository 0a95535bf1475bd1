#include "bench/pattern.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace parley::bench {
namespace {

constexpr std::size_t period = 251;
// Messages of a rank may start anywhere in the first 64 bytes of its pattern, and are none of its partner's.
constexpr std::size_t ranks_apart = 64;

std::uint8_t pattern(int rank, std::size_t index) noexcept {
  return static_cast<std::uint8_t>(1 + (index + static_cast<std::size_t>(rank) * ranks_apart) % period);
}

}  // namespace

void write_pattern(std::span<std::uint8_t> memory, int rank) noexcept {
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = pattern(rank, i);
}

std::optional<std::size_t> first_wrong(std::span<const std::uint8_t> memory, int rank, std::size_t start,
                                       bool rewritten) noexcept {
  // The same bytes come again after each period, so one block serves for all of the memory.
  constexpr std::size_t periods = 16;
  std::array<std::uint8_t, periods * period> block;
  const int flipped = rewritten ? static_cast<std::uint8_t>(rewriting) : 0;
  for (std::size_t i = 0; i < block.size(); ++i)
    block[i] = static_cast<std::uint8_t>(pattern(rank, start + i) ^ flipped);
  for (std::size_t done = 0; done < memory.size(); done += block.size()) {
    const std::size_t piece = std::min(block.size(), memory.size() - done);
    if (std::memcmp(memory.data() + done, block.data(), piece) == 0) continue;
    const auto pieces = memory.subspan(done, piece);
    const auto wrong = std::mismatch(pieces.begin(), pieces.end(), block.begin()).first;
    return done + static_cast<std::size_t>(wrong - pieces.begin());
  }
  return std::nullopt;
}

}  // namespace parley::bench
