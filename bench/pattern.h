#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace parley::bench {

// What measured messages are made of: bytes that count, from another start for each rank. Never zero, never
// `spoiled_byte`, and without a power of two as their period: a piece that is left out, comes twice or goes
// to another place shows.

inline constexpr std::uint8_t spoiled_byte = 0xff;

// Applied to every byte when a message is written anew; makes no byte of a pattern the spoiled one.
inline constexpr std::uint64_t rewriting = 0x0101010101010101;

void write_pattern(std::span<std::uint8_t> memory, int rank) noexcept;

// The first byte that is not the pattern's from its place `start` on, rewritten or not; nothing when all are.
std::optional<std::size_t> first_wrong(std::span<const std::uint8_t> memory, int rank, std::size_t start,
                                       bool rewritten) noexcept;

}  // namespace parley::bench
