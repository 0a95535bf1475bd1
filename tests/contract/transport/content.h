#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "transport/interface/packet.h"
#include "transport/interface/sink.h"

namespace parley::transport::contract {

// What packet number `index` of `sender` looks like, so that its receiver can tell without being told.
inline PacketHeader make_header(PeerId sender, std::uint64_t index, std::size_t payload_bytes) {
  PacketHeader header;
  header.kind = static_cast<PacketKind>(1 + index % 12);
  header.type_code = static_cast<std::uint8_t>(index * 31);
  header.credits = static_cast<std::uint16_t>(index * 7919);
  header.context = sender;
  header.tag = static_cast<std::int64_t>(index) << 33;
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  header.id = static_cast<std::uint32_t>(index);
  header.message_bytes = ~index;
  return header;
}

// A window into one table of random bytes: another one for each packet, and nothing to compute when it is
// compared. Valid forever. Thread-safety: safe.
inline std::span<const std::byte> payload_of(PeerId sender, std::uint64_t index, std::size_t bytes) {
  constexpr std::size_t windows = 1U << 16;
  static const std::vector<std::byte> table = [] {
    std::vector<std::byte> random(windows + max_payload_bytes);
    std::mt19937 words(2025);
    for (auto& one : random) one = static_cast<std::byte>(words());
    return random;
  }();
  const std::uint64_t mixed = (index + 1) * 0x9e3779b97f4a7c15ULL + sender * 0xc2b2ae3d27d4eb4fULL;
  return std::span(table).subspan(mixed >> 48, bytes);
}

inline bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

inline bool same_header(const PacketHeader& a, const PacketHeader& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

}  // namespace parley::transport::contract
