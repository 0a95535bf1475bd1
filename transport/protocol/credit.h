#pragma once

#include <cstddef>
#include <cstdint>

namespace parley::transport {

// Eager messages may arrive before their receive is posted and then lie in the receiver's memory. Credit
// bounds that: each side may have so many units on their way or unmatched at the other, and gets them back as
// messages are matched. Without credit a message travels as an offer, which needs none.
inline constexpr std::int32_t eager_window_units = 4096;

// A unit for the message itself and one for every KiB: at most 4096 messages or about 4 MiB per peer.
constexpr std::int32_t credit_units(std::size_t payload_bytes) noexcept {
  return static_cast<std::int32_t>(1 + payload_bytes / 1024);
}

// Envelopes: sends to one peer that have not ended, or offers of one peer that are not matched. Far more than
// a program means to have; beyond, a send fails with ResourceError.
inline constexpr std::size_t max_envelopes = 128 * 1024;

// Aborted contexts that a peer may tell of: a rank may hear of one before it has joined that group itself,
// and remembers it.
inline constexpr std::size_t max_told_aborts = 4096;

// Departures from groups that wait to be told to a peer, or that it has told before we know the group.
inline constexpr std::size_t max_told_departures = 4096;

// Credit goes back with the next packet; alone only when this much is owed.
inline constexpr std::int32_t credit_return_units = eager_window_units / 2;

}  // namespace parley::transport
