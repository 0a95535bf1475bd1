#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/base/status.h"
#include "transport/base/unique_fd.h"
#include "transport/shm/arena_exchange.h"
#include "transport/shm/handover_message.h"
#include "transport/shm/local_socket.h"
#include "transport/shm/segment.h"
#include "transport/shm/window.h"

namespace parley::transport::shm {

// How the two processes of a link show each other their windows, over the socket that introduced them, which
// tells of their arenas too: an offer carries a window's descriptor, and is answered. The rest of the life of
// a link needs no socket, so that nothing waits for an answer: until it comes, large messages go through the
// ring.
//
// A peer may offer a window's place again, with another window: the one before is forgotten. What does not
// fit into a message of ours, or would map what is no window, ends the link. Thread-safety: none.
class Handover {
 public:
  // All of them outlive this object. `arenas`: is told what the peer says of its arena.
  Handover(WindowPool& pool, ArenaExchange& arenas, const base::UniqueFd& socket) noexcept
      : pool_(pool), arenas_(arenas), socket_(socket) {}

  // Our windows that the peer has taken, by place.
  [[nodiscard]] WindowSet accepted() const noexcept { return in_state(State::accepted); }
  // Offers the peer one more window, unless an answer is still to come or there is none to offer.
  void offer_another() noexcept;

  // Reads what has come. ok: at least one message, or no memory to read it; again: none; peer_died: nobody
  // will send any more; protocol_violation.
  base::Status hear() noexcept;
  // The peer's window at this place; empty if it has offered none. Valid until hear().
  [[nodiscard]] std::span<const std::byte> peer_window(std::uint64_t place) const noexcept;

 private:
  using State = Shown;
  struct Ours {
    std::uint32_t generation = 0;  // to which `state` belongs
    State state = State::unknown;
  };

  [[nodiscard]] State state_of(std::size_t place) const noexcept;
  [[nodiscard]] WindowSet in_state(State state) const noexcept;
  base::Status take(const HandoverMessage& message, HandedOver& descriptors, bool is_lacking) noexcept;
  base::Status take_window(const HandoverMessage& message, base::UniqueFd memory, bool is_lacking) noexcept;
  base::Status take_offer(const HandoverMessage& message, base::UniqueFd memory) noexcept;

  WindowPool& pool_;
  ArenaExchange& arenas_;
  const base::UniqueFd& socket_;
  std::array<Ours, most_windows> ours_;
  std::array<Segment, most_windows> theirs_;
  std::array<std::uint32_t, most_windows> their_bytes_{};
};

}  // namespace parley::transport::shm
