#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/match/matcher.h"
#include "transport/protocol/request.h"

namespace parley::transport {

// Where a message stands that came before its receive.
enum class UnexpectedState : std::uint8_t {
  offered,  // only its offer is here; the data follow a grant
  landed,   // eager, its payload is here
};

// Whose key came with an offer.
enum class KeyKind : std::uint8_t { none, of_mover, of_tender, of_device_mover };

// A message that came before its receive. Owned by Messenger's pool: in the matcher, or held by a probe; an
// offer is also listed in its peer, until it is taken back or the peer is gone.
struct Unexpected : Arrival {
  Unexpected() noexcept {}  // as Request's

  Peer* peer = nullptr;
  UnexpectedState state = UnexpectedState::landed;
  bool held = false;  // by a probe, out of the matcher
  std::uint8_t type_code = untyped;
  std::uint32_t remote_id = 0;  // offered: the sender's request
  std::size_t message_bytes = 0;
  KeyKind key = KeyKind::none;   // offered: `small` begins with the RemoteKey
  std::byte* payload = nullptr;  // landed: `small`, or from the buffer pool
  std::array<std::byte, 128> small;

  [[nodiscard]] bool is_small() const noexcept { return payload == small.data(); }
};

}  // namespace parley::transport
