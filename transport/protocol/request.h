#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/base/intrusive_list.h"
#include "transport/base/memory_ref.h"
#include "transport/base/parker.h"
#include "transport/base/status.h"
#include "transport/interface/completion.h"
#include "transport/match/matcher.h"

namespace parley::transport {

class DeviceMemory;
class Mover;
struct Peer;
struct ReceiveSpec;
struct Route;
struct OutboxTag;
struct StreamTag;
struct LiveTag;

// Element type that agrees with every other.
inline constexpr std::uint8_t untyped = 0;

enum class RequestKind : std::uint8_t { send, receive, composite };

// Where an operation stands. The buffer may be touched in `leaving`, `lent`, `streaming` and `moving` only;
// in `offered` the peer may read it, as long as its mover has not withdrawn the key.
enum class RequestState : std::uint8_t {
  queued,     // send: in its peer's outbox, the link had no room
  leaving,    // send: the link reads the buffer; the message is complete once it has
  lent,       // send: the peer has begun to copy device memory, and is about to say so
  offered,    // send: the peer knows of it and has not told that it has matched it
  streaming,  // send: granted; pieces leave one after the other
  posted,     // receive: in the matcher
  moving,     // receive: matched; the payload is landing
  composed,   // composite: its parts are under way
  done,       // `status` is final, the buffer belongs to the caller again
};

// What a request that waits in an outbox shall send when its turn comes.
enum class Errand : std::uint8_t { none, eager, offer, fill, grant, pushed };

// One send or receive. It embeds everything its course needs (list hooks, completion, control record), so
// that nothing is allocated on the way. Owned by Messenger's pool; the caller has it until
// Messenger::release().
// What the receive of an eager message touches comes first, in three cache lines.
struct alignas(64) Request : PostedReceive,
                             base::ListHook<LiveTag>,
                             base::ListHook<OutboxTag>,
                             base::ListHook<StreamTag>,
                             Completion {
  // Not the compiler's: that would fill the whole object with zeros first, by an instruction that takes
  // longer than a receive.
  explicit Request(RequestKind kind_of_it) noexcept : kind(kind_of_it) {}
  explicit Request(const ReceiveSpec& spec) noexcept;  // specs.h

  RequestKind kind = RequestKind::send;
  RequestState state = RequestState::queued;
  Errand errand = Errand::none;
  bool released = false;   // the caller has let go; freed at the end
  bool piece_out = false;  // streaming: the link reads a piece right now
  bool pulled = false;     // a mover has brought everything; send: a device mover of ours, by a push
  bool gives_up = false;   // the caller set this deadline for this operation, to go on when it passes
  bool is_bound = false;   // cancel() does not end it: what it stands for cannot be taken back
  std::uint8_t type_code = untyped;
  std::uint8_t remote_type_code = untyped;  // receive: what the sender said

  base::Status status;
  base::Status ending;  // decided while the buffer was in use; becomes `status` when it no longer is

  Peer* peer = nullptr;       // send: to whom; receive: from whom, once known
  Envelope envelope;          // send: own; receive: the message's, once matched
  std::byte* data = nullptr;  // a send only reads it
  std::size_t capacity_bytes = 0;
  std::size_t message_bytes = 0;   // of the whole message, once known
  DeviceMemory* device = nullptr;  // null: `data` is memory of the host; else only this knows how to reach it

  base::Parker* waiter = nullptr;                     // woken at the end
  void (*on_done)(Request&) noexcept = nullptr;       // called at the end, engine lock held
  void (*on_interrupt)(Request&) noexcept = nullptr;  // composite: see CompositeSpec
  void* owner = nullptr;                              // the Messenger
  void* user = nullptr;                               // of the layer above, for `on_done`
  void* agent = nullptr;                              // composite: who does it, an Agent of the engine

  std::chrono::nanoseconds timeout{0};
  std::chrono::steady_clock::time_point started{};  // zero until the first tick after posting

  std::uint16_t seconds = 0;  // composite: that it was told to be under way, see CompositeSpec

  Mover* mover = nullptr;           // that reads the buffer of an offer, or writes that of a receive
  std::uint64_t exposure = 0;       // of an offer, or of a receive's place, to its mover
  Route* route = nullptr;           // receive: while there is a choice, see routing.cc
  std::int32_t tendered_units = 0;  // send: credit kept for a fill; not 0: tendered, see tender.cc
  std::uint64_t tendered_at = 0;    // Messenger's count of looks

  std::size_t moved_bytes = 0;
  std::size_t granted_bytes = 0;
  std::uint32_t id = 0;         // our number on the wire; 0: none given
  std::uint32_t remote_id = 0;  // the peer's request
};

[[nodiscard]] inline std::uint32_t context_of(const Request& request) noexcept {
  return request.kind == RequestKind::send ? request.envelope.context : request.pattern.context;
}

}  // namespace parley::transport
