#pragma once

#include <cstddef>
#include <memory>

#include "transport/inproc/device_offers.h"
#include "transport/inproc/inproc_hub.h"
#include "transport/interface/endpoint.h"
#include "transport/interface/sink.h"

namespace parley::transport {

// One end of an in-process link.
class InprocEndpoint final : public Endpoint {
 public:
  // What poll() left behind.
  enum class Visit : unsigned char {
    idle,      // everything there was is done
    more,      // the budget ended first
    finished,  // on_closed() has run: destroy this
  };

  // `end`: 0 for the dialler, 1 for the acceptor. REQUIRES: limits outlive this.
  InprocEndpoint(PeerId peer, std::shared_ptr<InprocLink> link, int end, const InprocLimits& limits) noexcept;

  // Without close(): the peer sees our death, completions do not run.
  ~InprocEndpoint() override;

  base::Status try_send(const PacketHeader& header, const base::ConstMemoryRef& payload, Completion* done,
                        Urgency urgency) noexcept override;
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept override { return limits_.copy_limit_bytes; }
  // What lies in the lane reaches the peer even if this end closes; a payload taken `in_progress` counts
  // until its completion has run.
  [[nodiscard]] bool drained() const noexcept override { return unfinished_ == 0; }
  void close() noexcept override;

  // Delivers what has arrived and runs what has completed; adds to `events`.
  Visit poll(PacketSink& sink, std::size_t& events) noexcept;
  [[nodiscard]] PeerId peer() const noexcept { return peer_; }

 private:
  // open -> failed (bad_alloc) or closed (close()) -> on_closed() in the next poll(). The peer's death is
  // seen as the end of the incoming lane, after its last packet.
  enum class State : unsigned char {
    open,
    failed,  // the incoming lane has ended, or memory has: our end is shut, completions have not run
    closed,  // by close(), also from inside a delivery: our end is shut, completions have run
  };

  void shut() noexcept;
  std::size_t run_finished() noexcept;
  void run_unfinished(base::Status status) noexcept;
  void deliver(PacketSink& sink, const InprocPacket& packet) noexcept;
  void finish(PacketSink& sink) noexcept;

  const PeerId peer_;
  const std::shared_ptr<InprocLink> link_;
  InprocPort& own_port_;
  InprocPort& peer_port_;
  InprocLane& outgoing_;
  InprocLane& incoming_;
  const InprocLimits& limits_;
  InprocLedger ledger_;
  State state_ = State::open;
  base::Status reason_;
  std::size_t unfinished_ = 0;  // completions that have not run
};

}  // namespace parley::transport
