#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transport/base/intrusive_list.h"
#include "transport/base/status.h"
#include "transport/interface/device_mover.h"
#include "transport/interface/endpoint.h"
#include "transport/interface/mover.h"
#include "transport/protocol/credit.h"
#include "transport/protocol/landing_timer.h"
#include "transport/protocol/offer_table.h"
#include "transport/protocol/path_choice.h"
#include "transport/protocol/request.h"
#include "transport/protocol/tender_turns.h"
#include "transport/protocol/unexpected.h"

namespace parley::transport {

enum class PeerState : std::uint8_t {
  expected,  // no link yet; what is sent waits in the outbox
  up,        // linked
  left,      // said goodbye; what it sent before is still delivered
  down,      // the link is gone
};

// What a peer has told us it has been waiting for, from us.
struct StallReport {
  bool valid = false;
  bool is_send = false;
  bool may_be_helped = false;
  std::uint8_t type_code = untyped;
  Envelope envelope;  // context and tag; any_tag possible
  std::size_t message_bytes = 0;
  std::chrono::steady_clock::time_point since{};
};

// How our own dial to a peer stands.
enum class DialState : std::uint8_t {
  none,       // not begun, or over
  asking,     // we find out its address: nothing was dialled, and the peer's own dial is welcome
  calling,    // Transport::connect() is under way
  tentative,  // it has come through; the peer has not answered it yet
  resting,    // it came to nothing that is final: again after a while, if somebody still waits
};

struct Dial {
  DialState state = DialState::none;
  Endpoint* endpoint = nullptr;  // while tentative
  std::chrono::steady_clock::time_point since{};
};

// Signs of life of a peer, while operations wait for it.
struct Pulse {
  bool awaited = false;  // by some operation, for a while
  bool ping_out = false;
  bool suspected = false;                             // of being stopped
  std::uint32_t heard = 0;                            // Peer::heard at the last sign
  std::chrono::steady_clock::time_point looked{};     // zero: never
  std::chrono::steady_clock::time_point last_sign{};  // when `heard` was last seen to change
};

// How soon a peer takes what is tendered to it, see tender.cc.
struct TenderHabits {
  std::uint64_t pulled_at = 0;    // the look at which something was pulled last
  std::uint64_t unpulled_at = 0;  // ... and at which something was not
  std::uint32_t skip = 0;         // so many messages leave as eager before the next is tendered
  std::uint32_t skip_next = least_skip;

  static constexpr std::uint32_t least_skip = 4;
  static constexpr std::uint32_t most_skip = 256;
};

// Of a peer whose link does not say another limit.
inline constexpr std::size_t default_eager_bytes = std::size_t{64} << 10;

// One other process (or ourselves), as Messenger sees it.
struct Peer {
  std::uint32_t number = 0;
  std::string title;  // for people: "rank 2 (node-b, pid 4711)"
  PeerState state = PeerState::expected;
  base::Status reason;        // why it is left or down
  base::Status close_reason;  // why we closed the link ourselves, if we did
  std::uint32_t culprit = 0;  // whose failure that was: its own number unless its goodbye named another

  Endpoint* endpoint = nullptr;  // while up or left
  Dial dial;                     // while expected: our own
  Mover* mover = nullptr;        // moves large messages beside the link: the link's own, or set_mover()'s
  DeviceMover* device_mover = nullptr;  // the same of device memory, while there is a link
  bool blocked = false;       // the link refused something, which waits; on_writable() or on_closed() follows
  bool yielded = false;       // has something to send when others have had their turn
  std::uint64_t burst = 0;    // the burst in which it was last sent to, see Messenger::end_burst()
  bool close_wanted = false;  // settle() closes the link
  bool goodbye_wanted = false;
  bool goodbye_sent = false;
  std::optional<std::uint32_t> goodbye_culprit;

  std::size_t copy_limit_bytes = 0;                     // of the link
  std::size_t eager_limit_bytes = default_eager_bytes;  // as the link says, or the options
  std::int32_t credit_units = eager_window_units;       // what we may still send as eager
  std::int32_t held_units = 0;                          // what the peer may not send as eager,
  std::int32_t owed_units = 0;                          // ... and of this, what we have to hand back

  base::IntrusiveList<Request, OutboxTag> outbox;   // in order; before any piece of a stream
  base::IntrusiveList<Request, StreamTag> streams;  // granted sends
  std::vector<std::uint32_t> abort_contexts;        // aborts to tell, oldest first; each has a record
  std::vector<std::uint32_t> departed_contexts;     // that we have closed, to tell
  std::vector<std::uint32_t> revoke_ids;            // offers to take back
  std::vector<std::uint32_t> revoked_ids;           // late grants to answer

  std::size_t live_sends = 0;  // ours to this peer that have not ended
  OfferTable offers;           // unmatched ones of this peer, by its number

  // Receives that were matched with an offer, until they have ended: it may be taken back, and if it has a
  // key, a fill may come.
  base::IntrusiveList<Request, StreamTag> accepted;

  TenderHabits tenders;
  TenderTurns tender_turns;                                    // of our messages to it
  PathChoice paths;                                            // of its large messages to us
  std::uint32_t told_pulled_classes = PathChoice::all_pulled;  // of these, what it knows
  LandingTimer landing;                                        // of its smaller messages to us
  std::uint64_t moved_at = 0;    // the look at which large data moved last, to it or to us
  std::uint64_t offered_at = 0;  // the look at which what it offered for want of credit came last

  // The packet whose payload is landing: straight in a receive's buffer, else in a buffer of the pool.
  Request* landing_request = nullptr;
  std::byte* landing_buffer = nullptr;
  std::byte* landing_place = nullptr;  // of the receive's DeviceMemory
  std::size_t landing_bytes = 0;

  Pulse pulse;
  std::uint32_t heard = 0;  // signs of life so far, modulo 2^32
  bool ping_wanted = false;
  bool pong_wanted = false;

  StallReport told_us;            // the peer waits for us
  Request* told_about = nullptr;  // we told the peer that we wait for it with this request
  PacketHeader stall;             // what to tell
  bool stall_wanted = false;
  bool resume_wanted = false;

  std::string unreachable;    // why the last dial came to nothing
  Peer* next_made = nullptr;  // PeerTable's
};

// Whether receives from any source miss a peer that ended so. Of one that we never met nothing was expected
// but by those who named it.
inline bool counts_as_failure(base::Status reason) noexcept {
  return reason.failed() && reason.code() != base::Code::peer_left && reason.code() != base::Code::gone;
}
// The peer answers again, after it was suspected of being stopped.
void clear_of_suspicion(Peer& peer, std::chrono::steady_clock::time_point now) noexcept;  // heartbeat.cc
// Whether a held message can still be had: no offer that was taken back meanwhile, or whose sender is gone.
bool stands(const Unexpected& message) noexcept;  // unexpected.cc
// The receive that was matched with an offer of this peer and waits for its data.
Request* receive_of(Peer& peer, std::uint32_t remote_id) noexcept;  // tender.cc

// The tendered send will not be filled, or is in no list for that any more.
void end_tender(Request& request) noexcept;  // tender.cc
// Adds an id to one of the lists above. False: out of memory.
bool note(std::vector<std::uint32_t>& ids, std::uint32_t id) noexcept;  // lifecycle.cc

}  // namespace parley::transport
