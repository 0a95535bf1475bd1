#pragma once

#include <array>
#include <cstdint>

#include "transport/base/result.h"
#include "transport/base/unique_fd.h"
#include "transport/shm/segment.h"

namespace parley::transport::shm {

// What the two processes of a link say to each other over the socket that introduced them: one shows memory
// of its own, whose descriptor goes with the message, and the other answers.
struct HandoverMessage {
  enum class Kind : std::uint8_t { offer = 1, accepted = 2, refused = 3 };
  enum class Subject : std::uint8_t { window = 1, arena = 2 };
  static constexpr std::array<char, 4> right_magic{'P', 'L', 'Y', 'W'};

  std::array<char, 4> magic = right_magic;
  Kind kind{};
  Subject subject{};
  std::uint16_t place = 0;       // of the window, or the number of the segment
  std::uint64_t bytes = 0;       // of the memory
  std::uint32_t generation = 0;  // of a window
  std::uint32_t nothing = 0;
};
static_assert(sizeof(HandoverMessage) == 24);

// Maps what an offer shows. Fails with `exhausted` where there is no room, else with `protocol_violation`.
base::Result<Segment> attach_shown(base::UniqueFd memory, std::uint64_t bytes) noexcept;
// Answers an offer. A peer that does not hear it goes on in another way.
void answer(const base::UniqueFd& socket, HandoverMessage offer, HandoverMessage::Kind kind) noexcept;

// How far it has come with something that we may show.
enum class Shown : std::uint8_t {
  unknown,   // the peer has never heard of it
  offered,   // an answer is to come
  accepted,  // it has mapped it
  refused,   // it could not, and is not asked again
};

}  // namespace parley::transport::shm
