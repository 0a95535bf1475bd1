#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "transport/base/wire.h"

namespace parley::rendezvous {

// The unit of the store's wire protocol, the same in both directions; see README.md.
struct Frame {
  std::uint8_t kind = 0;  // a Command, or a ReplyStatus
  std::uint64_t id = 0;   // chosen by the client, repeated in the reply
  base::Bytes body = {};
};

inline constexpr std::uint16_t protocol_version = 1;
inline constexpr std::size_t frame_header_bytes = 16;
// What a body has beyond keys, values and indices: counts, numbers, a line of text.
inline constexpr std::size_t body_overhead_bytes = 4096;

// Begins a frame whose body follows; finish_frame() sets its length.
base::WireWriter begin_frame(std::uint8_t kind, std::uint64_t id);
base::Bytes finish_frame(base::WireWriter writer);

// Cuts a stream of bytes into frames, however the bytes are divided. Memory grows with the bytes that came,
// never with a length that was only announced.
class FrameReader {
 public:
  enum class Step {
    more,       // the input is used up
    frame,      // a frame is complete; input may be left
    violation,  // these are no frames; problem() says why. Final.
  };

  explicit FrameReader(std::size_t max_body_bytes) : max_body_bytes_(max_body_bytes) {}

  // Takes bytes from the front of `input`. The frame is moved out.
  Step step(std::span<const std::byte>& input, Frame& frame);
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  bool read_header();
  bool fail(std::string problem);

  const std::size_t max_body_bytes_;
  std::byte header_[frame_header_bytes] = {};
  std::size_t header_bytes_ = 0;  // received
  std::size_t body_bytes_ = 0;    // announced
  Frame frame_;
  std::string problem_;
};

}  // namespace parley::rendezvous
