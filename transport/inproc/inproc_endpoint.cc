#include "transport/inproc/inproc_endpoint.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace parley::transport {

using base::Code;
using base::Status;

InprocEndpoint::InprocEndpoint(PeerId peer, std::shared_ptr<InprocLink> link, int end,
                               const InprocLimits& limits) noexcept
    : peer_(peer),
      link_(std::move(link)),
      own_port_(*link_->ports[end]),
      peer_port_(*link_->ports[1 - end]),
      outgoing_(link_->lanes[end]),
      incoming_(&own_port_ == &peer_port_ ? outgoing_ : link_->lanes[1 - end]),
      limits_(limits),
      ledger_(link_->device_offers, static_cast<std::size_t>(end),
              static_cast<std::size_t>(&own_port_ == &peer_port_ ? end : 1 - end)) {
  ledger = &ledger_;
}

InprocEndpoint::~InprocEndpoint() {
  if (state_ == State::open) shut();
}

Status InprocEndpoint::try_send(const PacketHeader& header, const base::ConstMemoryRef& payload,
                                Completion* done, Urgency) noexcept {
  if (state_ != State::open) return reason_;
  const bool completes_later = payload.bytes > limits_.copy_limit_bytes;
  InprocLane::Push answer = InprocLane::Push::closed;
  try {
    answer = outgoing_.push(header, payload, completes_later ? done : nullptr);
  } catch (const std::bad_alloc&) {
    shut();
    state_ = State::failed;
    reason_ = Status(Code::io_error, ENOMEM);
    return reason_;
  }
  if (answer == InprocLane::Push::full) return Code::again;
  if (answer == InprocLane::Push::closed) return Code::peer_died;
  peer_port_.signal();
  if (!completes_later) return {};
  ++unfinished_;
  return Code::in_progress;
}

// Ends both directions for this end, and lets both ends find out.
void InprocEndpoint::shut() noexcept {
  outgoing_.close_writer();
  incoming_.close_reader();
  peer_port_.signal();
  own_port_.signal();
}

void InprocEndpoint::close() noexcept {
  if (state_ == State::closed) return;
  shut();
  state_ = State::closed;
  reason_ = Code::closed;
  run_finished();
  run_unfinished(Code::cancelled);
}

std::size_t InprocEndpoint::run_finished() noexcept {
  std::size_t count = 0;
  while (unfinished_ != 0) {
    Completion* done = outgoing_.take_finished();
    if (done == nullptr) break;
    --unfinished_;
    ++count;
    done->fn(*done, Status());
  }
  return count;
}

void InprocEndpoint::run_unfinished(Status status) noexcept {
  while (unfinished_ != 0) {
    Completion* done = outgoing_.take_unfinished();
    // The reader may have consumed it since run_finished(); then it went well.
    const bool consumed = done == nullptr;
    if (consumed) done = outgoing_.take_finished();
    --unfinished_;
    done->fn(*done, consumed ? Status() : status);
  }
}

InprocEndpoint::Visit InprocEndpoint::poll(PacketSink& sink, std::size_t& events) noexcept {
  events += run_finished();
  if (state_ == State::open && outgoing_.became_writable()) {
    ++events;
    sink.on_writable(*this);
  }
  for (std::size_t i = 0; i < limits_.visit_packets && state_ == State::open; ++i) {
    const InprocPacket* packet = incoming_.peek();
    if (packet == nullptr) {
      if (!incoming_.at_end()) return Visit::idle;
      shut();
      state_ = State::failed;
      reason_ = Code::peer_died;
      break;
    }
    ++events;
    deliver(sink, *packet);
    if (incoming_.pop()) peer_port_.signal();
  }
  if (state_ == State::open) return Visit::more;
  ++events;
  finish(sink);
  return Visit::finished;
}

void InprocEndpoint::deliver(PacketSink& sink, const InprocPacket& packet) noexcept {
  const PacketHeader& header = packet.header;
  if (header.payload_bytes <= limits_.landing_bytes) {
    sink.on_packet(*this, header, std::span(packet.payload(), header.payload_bytes));
    return;
  }
  const base::MemoryRef target = sink.on_header(*this, header);
  if (state_ == State::closed) return;
  std::memcpy(target.data, packet.payload(), header.payload_bytes);
  sink.on_landed(*this, header);
}

void InprocEndpoint::finish(PacketSink& sink) noexcept {
  run_finished();
  run_unfinished(reason_);
  sink.on_closed(*this, reason_);
}

}  // namespace parley::transport
