#pragma once

#include <memory>
#include <string>
#include <utility>

#include "transport/base/deadline.h"
#include "transport/interface/sink.h"
#include "transport/shm/arena.h"
#include "transport/shm/bell.h"
#include "transport/shm/cross_memory.h"
#include "transport/shm/local_socket.h"
#include "transport/shm/offer_board.h"
#include "transport/shm/ring_layout.h"
#include "transport/shm/segment.h"
#include "transport/shm/window.h"
#include "transport/socket/identity.h"

namespace parley::transport::shm {

// Cells for a window of 64 messages and more: where its reader has no core just now, a writer for whose last
// few messages there is no room has to wait for a turn of the reader's, and for one of its own.
inline constexpr RingShape default_ring{.cells = 128, .payload_bytes = 32 << 10};

// What a process says of itself, the same to everybody.
struct Self {
  PeerId number = 0;
  socket::JobId job{};
  RingShape shape = default_ring;  // of the rings that it writes
  WindowPlan windows{};            // for larger messages
  // To read from others and be read; null: neither. With one on both sides, each tries in the introduction.
  std::shared_ptr<const CrossMemory> cross_memory = nullptr;
  std::shared_ptr<Arena> arena = nullptr;  // in which peers may read; null: none
};

// All that a link needs, once two processes have introduced themselves.
struct Acquaintance {
  PeerId peer = 0;
  base::UniqueFd socket;       // ends when the peer does
  base::UniqueFd end_of_life;  // readable when its process has ended; may be none
  Segment out;
  Segment in;
  RingShape out_shape;
  RingShape in_shape;
  PeerBell bell;
  Boards boards;
  CrossMemoryTerms cross_memory;
};

// How two processes of a host come to know each other: each sends one message, with its ring and its bell,
// the dialler first; then the dialler confirms. Only its word makes the link: until then it may give up, go
// on by another way, and nobody has taken it for a peer that died. The kernel vouches for the user on the
// other side, who must be ours; number and job are taken on trust, for a user's processes can do anything to
// each other. Thread-safety: none.
class Introduction {
 public:
  // `own_bell` outlives this object.
  static Introduction dial(const Self& self, const OwnBell& own_bell, PeerId peer, std::string name,
                           base::Deadline deadline);
  static Introduction answer(const Self& self, const OwnBell& own_bell, base::UniqueFd socket,
                             base::Deadline deadline);

  // Goes as far as it can without waiting. `again`: not at its end; ok: acquaintance() is complete; else it
  // has failed, and why() says so in words. Whoever waits for the dialler's confirmation does so without a
  // deadline: the dialler, if it lives, has sent it or hangs up, and both may be on their way.
  base::Status step();

  [[nodiscard]] bool is_dial() const noexcept { return is_dial_; }
  // Whether the dialler has spoken. With our answer it may take this for a link already.
  [[nodiscard]] bool has_heard() const noexcept {
    return state_ == State::answering || state_ == State::confirming;
  }
  [[nodiscard]] PeerId peer() const noexcept { return acquaintance_.peer; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  // To wait on; -1 before there is a connection.
  [[nodiscard]] int descriptor() const noexcept { return acquaintance_.socket.get(); }
  // REQUIRES: step() has answered ok. Afterwards this object is of no use.
  [[nodiscard]] Acquaintance take_acquaintance() noexcept { return std::move(acquaintance_); }

 private:
  enum class State : unsigned char {
    connecting,  // nobody has room for us yet, or for our descriptors
    listening,   // the other side speaks next
    answering,   // it has spoken; our answer has no leave to go yet
    confirming,  // we have answered; the dialler has the last word
  };
  struct Message;

  Introduction(const Self& self, const OwnBell& own_bell, base::Deadline deadline)
      : self_(self), own_bell_(&own_bell), deadline_(deadline) {}

  base::Status connect();
  base::Status look_at_partner();
  base::Status make_memory();
  base::Status introduce_ourselves(State next);
  base::Status refuse(std::uint8_t reason);
  base::Status confirm();
  base::Status listen();
  base::Status await_confirmation();
  base::Status receive(Message& message, HandedOver& descriptors);
  void learn_result(const Message& message) noexcept;
  std::uint8_t judge(const Message& message) const noexcept;
  base::Status accept(const Message& message, HandedOver& descriptors);
  base::Status fail(base::Status status, std::string why);
  [[nodiscard]] const char* awaited_in_vain() const noexcept;

  Self self_;
  const OwnBell* own_bell_;
  base::Deadline deadline_;
  base::Deadline retry_ = base::Deadline::after(std::chrono::nanoseconds(0));  // of `connecting`: not before
  bool is_dial_ = false;
  State state_ = State::listening;
  std::string name_;
  std::string why_;
  Acquaintance acquaintance_;
};

}  // namespace parley::transport::shm
