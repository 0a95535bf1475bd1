#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

inline std::vector<std::byte> make_payload(PeerId sender, std::uint64_t index, std::size_t bytes) {
  std::vector<std::byte> payload(bytes);
  std::uint64_t word = (static_cast<std::uint64_t>(sender) << 48) ^ (index * 0x9e3779b97f4a7c15ULL);
  for (std::size_t at = 0; at < bytes; at += sizeof(word)) {
    word = word * 6364136223846793005ULL + 1442695040888963407ULL;
    std::memcpy(payload.data() + at, &word, std::min(sizeof(word), bytes - at));
  }
  return payload;
}

inline bool same_header(const PacketHeader& a, const PacketHeader& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

}  // namespace parley::transport::contract
