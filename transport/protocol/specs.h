#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "transport/base/read_alone.h"
#include "transport/interface/endpoint.h"
#include "transport/match/matcher.h"
#include "transport/protocol/request.h"

namespace parley::transport {

// What Messenger is asked, and what it answers.

struct MessengerOptions {
  std::uint32_t self = 0;        // our number
  std::uint32_t peer_count = 1;  // processes, ourselves included; their numbers are 0 to peer_count - 1
  // Larger messages are offered; at most max_payload_bytes. Nothing: what each link does best with.
  std::optional<std::size_t> eager_limit_bytes = std::nullopt;
  std::size_t piece_bytes = 1024 * 1024;  // of a granted message, at most max_payload_bytes
  // From here on the receiver of a message that could be pulled may ask for it by the link. Larger than what
  // is eager where there is a mover: of tendered ones it only tells what it prefers, and of what lacks credit
  // it asks for what is part of a stream.
  std::size_t routed_bytes = 64 * 1024 + 1;
  // Tags of contexts of which these bits are zero bring a note: what is matched is the tag without its low
  // note_bits. 0: there are none.
  std::uint32_t noted_contexts = 0;
  // Contexts below are of all processes unless they are opened; the others concern nobody while they are not.
  std::uint32_t first_group_context = std::numeric_limits<std::uint32_t>::max();
};

// A message's tag in a context with notes: bits that its receiver compares by itself, and the matched ones
// above.
inline constexpr int note_bits = 44;
[[nodiscard]] constexpr std::int64_t tag_with_note(std::int64_t tag, std::uint64_t note) noexcept {
  return tag << note_bits | static_cast<std::int64_t>(note);
}

struct SendSpec {
  std::uint32_t destination = 0;
  std::uint32_t context = 0;
  std::int64_t tag = 0;
  std::uint8_t type_code = untyped;
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool synchronous = false;
  DeviceMemory* device = nullptr;  // of memory on a device, and then it is synchronous
  std::chrono::nanoseconds timeout{};
  bool gives_up = false;  // see Request
  Endpoint::Urgency urgency = Endpoint::Urgency::now;
};

// An operation that is made of others, by whoever begins it.
struct CompositeSpec {
  std::uint32_t context = 0;
  void* agent = nullptr;  // who does it: Request::agent
  // Its deadline has passed, its context was aborted, a process that is of the context was lost, or one more
  // second has passed while it was well (Request::seconds). Called while requests are gone through: it may
  // only take a note. The operation ends by end_composite().
  void (*on_interrupt)(Request&) noexcept = nullptr;
  std::chrono::nanoseconds timeout{};
  bool gives_up = false;  // see Request
};

struct ReceiveSpec {
  Pattern pattern;
  std::uint8_t type_code = untyped;
  std::byte* data = nullptr;
  std::size_t capacity_bytes = 0;
  DeviceMemory* device = nullptr;  // of memory on a device
  std::chrono::nanoseconds timeout{};
  bool gives_up = false;  // see Request
};

// Each field once: the stores of a receive are most of what posting it costs. The pattern not as a whole: it
// has been written in parts a moment ago.
inline Request::Request(const ReceiveSpec& spec) noexcept
    : PostedReceive{{},
                    {base::read_alone(spec.pattern.context), base::read_alone(spec.pattern.source),
                     base::read_alone(spec.pattern.tag)},
                    0},
      kind(RequestKind::receive),
      state(RequestState::posted),
      gives_up(spec.gives_up),
      type_code(spec.type_code),
      data(spec.data),
      capacity_bytes(spec.capacity_bytes),
      device(spec.device),
      timeout(spec.timeout) {}

// What a send or receive call came to. No request: it is complete (a send's only way to be so) or failed.
struct Posted {
  base::Status status;
  Request* request = nullptr;
};

// Why a context was aborted.
struct AbortRecord {
  std::uint32_t by = 0;  // process
  std::string reason;
  AbortManner manner = AbortManner::prompt;
  std::chrono::steady_clock::time_point grace_ends;  // for links that still use a buffer of what was aborted
};

// That this process leaves, and because of whose failure.
struct Leaving {
  std::optional<std::uint32_t> culprit;
};

}  // namespace parley::transport
