#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/base/status.h"
#include "transport/base/unique_fd.h"
#include "transport/shm/local_socket.h"
#include "transport/shm/segment.h"
#include "transport/shm/window.h"

namespace parley::transport::shm {

// How the two processes of a link show each other their windows, over the socket that introduced them: an
// offer carries a window's descriptor, and is answered. The rest of the life of a link needs no socket, so
// that nothing waits for an answer: until it comes, large messages go through the ring.
//
// A peer may offer a place again, with another window: the one before is forgotten. What does not fit into a
// message of ours, or would map what is no window, ends the link. Thread-safety: none.
class Handover {
 public:
  // Both outlive this object.
  Handover(WindowPool& pool, const base::UniqueFd& socket) noexcept : pool_(pool), socket_(socket) {}

  // Our windows that the peer has taken, by place.
  [[nodiscard]] WindowSet accepted() const noexcept { return in_state(State::accepted); }
  // Offers the peer one more window, unless an answer is still to come or there is none to offer.
  void offer_another() noexcept;

  // Reads what has come. ok: at least one message; again: none; peer_died: nobody will send any more;
  // protocol_violation.
  base::Status hear() noexcept;
  // The peer's window at this place; empty if it has offered none. Valid until hear().
  [[nodiscard]] std::span<const std::byte> peer_window(std::uint64_t place) const noexcept;

 private:
  enum class State : std::uint8_t {
    unknown,   // the peer has never heard of it
    offered,   // an answer is to come
    accepted,  // it has mapped it
    refused,   // it could not, and is not asked again
  };
  enum class Kind : std::uint8_t { offer = 1, accepted = 2, refused = 3 };
  struct Message {
    std::array<char, 4> magic{};
    Kind kind{};
    std::uint8_t place = 0;
    std::uint16_t nothing = 0;
    std::uint32_t generation = 0;
    std::uint32_t bytes = 0;
  };
  struct Ours {
    std::uint32_t generation = 0;  // to which `state` belongs
    State state = State::unknown;
  };

  [[nodiscard]] State state_of(std::size_t place) const noexcept;
  [[nodiscard]] WindowSet in_state(State state) const noexcept;
  base::Status take(const Message& message, HandedOver& descriptors, bool has_descriptor) noexcept;
  base::Status take_offer(const Message& message, base::UniqueFd memory) noexcept;
  void answer(Message message, Kind kind) noexcept;

  WindowPool& pool_;
  const base::UniqueFd& socket_;
  std::array<Ours, most_windows> ours_;
  std::array<Segment, most_windows> theirs_;
  std::array<std::uint32_t, most_windows> their_bytes_{};
};

}  // namespace parley::transport::shm
