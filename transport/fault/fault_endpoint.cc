#include "transport/fault/fault_endpoint.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace parley::transport::fault {

using base::Code;
using base::Status;

namespace {
// Larger payloads are never delivered whole, as on every transport.
constexpr std::size_t whole_bytes = 4096;
}  // namespace

Status FaultEndpoint::try_send(const PacketHeader& header, const base::ConstMemoryRef& payload,
                               Completion* done, Urgency urgency) noexcept {
  if (broken_off_ || inner_ == nullptr) return reason_;
  if (dice_.now() >= refuses_until_ && dice_.happens(dice_.plan().refuse_permille))
    refuses_until_ = dice_.now() + dice_.up_to(dice_.plan().refuse_most);
  const bool must_be_taken = !took_any_ && payload.bytes == 0;  // the rule of Endpoint
  if (dice_.now() < refuses_until_ && !must_be_taken) {
    owes_writable_ = true;
    return Code::again;
  }
  const Status answer = inner_->try_send(header, payload, done, urgency);
  took_any_ = took_any_ || answer.ok() || answer.code() == Code::in_progress;
  if (answer.code() == Code::again) owes_writable_ = inner_refuses_ = true;
  return answer;
}

void FaultEndpoint::packet(const PacketHeader& header, std::span<const std::byte> payload) {
  hold({header, {payload.begin(), payload.end()}, 0});
}

base::MemoryRef FaultEndpoint::header(const PacketHeader& header) {
  arriving_ = {header, std::vector<std::byte>(header.payload_bytes), 0};
  return {arriving_.payload.data(), arriving_.payload.size()};
}

void FaultEndpoint::landed() {
  hold(std::exchange(arriving_, {}));
}

void FaultEndpoint::hold(Held packet) {
  packet.due = dice_.now();
  if (dice_.happens(dice_.plan().delay_permille)) packet.due += dice_.up_to(dice_.plan().delay_most);
  // Nobody overtakes.
  if (!held_.empty()) packet.due = std::max(packet.due, held_.back().due);
  held_.push_back(std::move(packet));
}

void FaultEndpoint::closed(Status reason) noexcept {
  inner_ = nullptr;
  if (!broken_off_) reason_ = reason;
}

void FaultEndpoint::break_off(Status reason) noexcept {
  if (broken_off_) return;
  broken_off_ = true;
  reason_ = reason;
  held_.clear();
  landing_.reset();
  if (inner_ != nullptr) inner_->close();
}

bool FaultEndpoint::is_holding() const noexcept {
  return inner_ == nullptr || !held_.empty() || landing_ || (owes_writable_ && !inner_refuses_);
}

FaultEndpoint::Outcome FaultEndpoint::deliver(PacketSink& sink, std::size_t& events) {
  const bool may_send = inner_ != nullptr && !broken_off_;
  if (may_send && owes_writable_ && !inner_refuses_ && dice_.now() >= refuses_until_) {
    owes_writable_ = false;
    ++events;
    sink.on_writable(*this);
  }
  if (landing_) {
    ++events;
    land_piece(sink);
  }
  while (!landing_ && !held_.empty() && held_.front().due <= dice_.now()) {
    ++events;
    if (const auto outcome = deliver_oldest(sink)) return *outcome;
  }
  if (inner_ != nullptr || landing_ || !held_.empty()) return Outcome::open;
  ++events;
  sink.on_closed(*this, reason_);
  return Outcome::ended;
}

// Each callback may close this link; what is delivered has left `held_` before.
std::optional<FaultEndpoint::Outcome> FaultEndpoint::deliver_oldest(PacketSink& sink) {
  Held packet = std::move(held_.front());
  held_.pop_front();
  const PacketKind kind = packet.header.kind;
  const bool sets_link_up = kind == PacketKind::welcome || kind == PacketKind::turned_away;
  switch (sets_link_up ? Cut::none : dice_.next_packet()) {
    case Cut::none: break;
    case Cut::link_dies: break_off(Code::peer_died); return {};
    case Cut::process_dies: return Outcome::process_died;
    case Cut::truncation: truncate(sink, std::move(packet)); return {};
    case Cut::corruption: break_off(Code::protocol_violation); return {};
  }
  const bool splits = !packet.payload.empty() && dice_.happens(dice_.plan().split_permille);
  if (splits)
    begin_landing(sink, std::move(packet), dice_.up_to(dice_.plan().split_pieces));
  else if (packet.payload.size() > whole_bytes)
    begin_landing(sink, std::move(packet), 1);
  else
    sink.on_packet(*this, packet.header, packet.payload);
  return {};
}

void FaultEndpoint::begin_landing(PacketSink& sink, Held packet, std::size_t pieces) {
  const base::MemoryRef target = sink.on_header(*this, packet.header);
  if (broken_off_) return;
  const std::size_t piece_bytes = (packet.payload.size() + pieces - 1) / pieces;
  landing_.emplace(Landing{std::move(packet), target, 0, piece_bytes});
  land_piece(sink);
}

void FaultEndpoint::land_piece(PacketSink& sink) {
  Landing& landing = *landing_;
  const std::vector<std::byte>& payload = landing.packet.payload;
  const std::size_t bytes = std::min(landing.piece_bytes, payload.size() - landing.landed_bytes);
  std::memcpy(landing.target.data + landing.landed_bytes, payload.data() + landing.landed_bytes, bytes);
  landing.landed_bytes += bytes;
  if (landing.landed_bytes < payload.size()) return;
  const PacketHeader header = landing.packet.header;
  landing_.reset();
  sink.on_landed(*this, header);
}

void FaultEndpoint::truncate(PacketSink& sink, Held packet) {
  if (!packet.payload.empty()) {
    const base::MemoryRef target = sink.on_header(*this, packet.header);
    if (!broken_off_) std::memcpy(target.data, packet.payload.data(), packet.payload.size() / 2);
  }
  break_off(Code::protocol_violation);
}

}  // namespace parley::transport::fault
