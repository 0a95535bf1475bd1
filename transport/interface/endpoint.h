#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include "transport/base/copy_meter.h"
#include "transport/base/memory_ref.h"
#include "transport/base/status.h"
#include "transport/interface/completion.h"
#include "transport/interface/mover.h"
#include "transport/interface/neighbour.h"
#include "transport/interface/offer_ledger.h"
#include "transport/interface/packet.h"

namespace parley::transport {

// An ordered, reliable, full-duplex packet link to one process.
// Thread-safety: none; all calls come from whoever drives the owning Transport.
// Ownership: of the transport; valid from on_link() to the end of on_closed().
class Endpoint {
 public:
  // How soon a packet shall leave.
  enum class Urgency : unsigned char {
    now,    // before try_send() returns, if the link is free; within a delivery perhaps right after it
    batch,  // may be held back, to leave with others at the next progress()
  };

  virtual ~Endpoint() = default;

  // Posts one packet. Packets arrive whole and in the order in which they were posted.
  //   ok           taken, and the payload may be reused now; `done` is not called
  //   in_progress  taken, the payload is read until done->fn runs
  //   again        nothing taken (no room, a large packet is still leaving); on_writable() follows. Never for
  //                the first packet of a link that lives, if it has no payload
  //   peer scope   the link is dead, nothing taken; on_closed() follows or has run
  // REQUIRES: payload.bytes == header.payload_bytes <= max_payload_bytes; done != nullptr if there is a
  // payload beyond copy_limit_bytes(). Cost: no lock, no heap allocation, at most one system call.
  virtual base::Status try_send(const PacketHeader& header, const base::ConstMemoryRef& payload,
                                Completion* done, Urgency urgency) noexcept = 0;

  // Payloads up to this many bytes never answer `in_progress`.
  [[nodiscard]] virtual std::size_t copy_limit_bytes() const noexcept = 0;

  // Delivers what has arrived on this link, within a budget; returns the number of events. For who waits for
  // this peer, beside progress(), which delivers the same, and does the rest.
  virtual std::size_t take_arrived() noexcept { return 0; }

  // Whether everything taken has arrived at the peer's host, so that closing the link loses nothing of it. No
  // event tells when this becomes true.
  [[nodiscard]] virtual bool drained() const noexcept = 0;

  // For how long the peer's host has left unacknowledged what was sent; asked again and again while nothing
  // comes from the peer. Nothing for a link within a process, whose ends live and stop together; a transport
  // between processes must answer.
  [[nodiscard]] virtual std::optional<std::chrono::milliseconds> silence() noexcept { return std::nullopt; }

  // Ends the link without blocking: unsent packets are dropped, completions run with `cancelled`, and
  // on_closed() follows from the next progress().
  virtual void close() noexcept = 0;

  void* user = nullptr;        // the sink's own record of this peer: no look-up per packet
  bool dialled = false;        // this side called connect(); set before on_link()
  std::string_view transport;  // Transport::name(), for people; set before on_link()
  // The largest message that this link brings sooner whole than after its receiver has asked for it; set
  // before on_link().
  std::size_t eager_limit_bytes = 64 << 10;
  // Whether payloads are stored past the caches on their way here, as this end found for the last large one
  // of its own, for both are as far from each other: then their sender copies faster than their receiver. An
  // end that sends nothing large does not know. A hint that wrappers of links need not pass on.
  bool lands_from_memory = false;
  // Of the packet that lands, or was the last to: how much of it came with its header. A hint as well.
  std::size_t first_piece_bytes = 8 << 10;
  // The same: whether its sender had copied more of it than the first piece when that was seen.
  bool sender_was_ahead = false;
  // What large payloads cost this process's core where the link copies them: those that are sent, and those
  // that land. Hints as well.
  base::CopyMeter copies_in;
  base::CopyMeter copies_out;
  // Whether take_arrived() does anything: it costs no more than a look at a cache line; set before on_link().
  // A hint as well.
  bool has_quick_look = false;
  // Moves large data beside this link, if there is such a thing; set before on_link(), valid as the link is.
  Mover* mover = nullptr;
  // Which offers of the two ends stand, if both can see that at once; set before on_link(), valid as the link
  // is.
  OfferLedger* ledger = nullptr;
  // Who sees memory of ours, and shows us its own, if the link is such; set before on_link(), valid as the
  // link is.
  Neighbour* neighbour = nullptr;
};

}  // namespace parley::transport
