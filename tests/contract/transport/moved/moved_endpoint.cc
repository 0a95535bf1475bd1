#include "tests/contract/transport/moved/moved_endpoint.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace parley::transport::contract {

using base::Code;
using base::Status;

namespace {

// Kinds that no packet of the suite has.
constexpr auto announcement_kind = static_cast<PacketKind>(200);
constexpr auto answer_kind = static_cast<PacketKind>(201);

struct Announcement {
  PacketHeader header;
  RemoteKey key;
};

}  // namespace

void insist(bool holds, const char* what) noexcept {
  if (holds) return;
  std::fprintf(stderr, "expected: %s\n", what);
  std::abort();
}

MovedEndpoint::MovedEndpoint(Endpoint& inner, PacketSink& sink, const Lend& lend)
    : inner_(inner), sink_(sink), lend_(lend) {
  dialled = inner.dialled;
  transport = inner.transport;
  mover = inner.mover;
  eager_limit_bytes = inner.eager_limit_bytes;
  arrival_.link = this;
  arrival_.fn = [](Completion& done, Status status) noexcept {
    static_cast<Arrival&>(done).link->landed(status);
  };
}

Status MovedEndpoint::try_send(const PacketHeader& header, const base::ConstMemoryRef& payload,
                               Completion* done, Urgency urgency) noexcept {
  if (ended_) return Code::closed;
  if (leaving_) {
    refused_ = true;
    return Code::again;
  }
  if (payload.bytes <= copy_limit_bytes()) {
    const Status status = inner_.try_send(header, payload, nullptr, urgency);
    if (status.code() == Code::again) refused_ = true;
    return status;
  }
  leaving_ = Leaving{.header = header, .payload = payload, .done = done};
  if (lend_) {
    leaving_->lent = lend_(payload.bytes);
    std::memcpy(leaving_->lent.get(), payload.data, payload.bytes);
    leaving_->payload.data = leaving_->lent.get();
  }
  announce();
  return Code::in_progress;
}

// False: it is to be tried again.
bool MovedEndpoint::announce() {
  if (!leaving_->exposure) leaving_->exposure = mover->expose(leaving_->payload);
  if (!leaving_->exposure) return false;
  const Announcement announcement{leaving_->header, leaving_->exposure->key};
  const PacketHeader header{.kind = announcement_kind, .payload_bytes = sizeof(announcement)};
  const auto bytes = std::as_bytes(std::span(&announcement, 1));
  leaving_->announced = inner_.try_send(header, {bytes.data(), bytes.size()}, nullptr, Urgency::now).ok();
  return leaving_->announced;
}

bool MovedEndpoint::answer() {
  owes_answer_ = !inner_.try_send({.kind = answer_kind}, {}, nullptr, Urgency::now).ok();
  return !owes_answer_;
}

std::size_t MovedEndpoint::work() {
  if (ended_) return 0;
  std::size_t events = 0;
  if (leaving_ && !leaving_->announced && announce()) ++events;
  if (owes_answer_ && answer()) ++events;
  return events;
}

void MovedEndpoint::packet(const PacketHeader& header, std::span<const std::byte> payload) {
  if (header.kind == announcement_kind) return arrive(payload);
  if (header.kind == answer_kind) return acknowledged();
  sink_.on_packet(*this, header, payload);
}

void MovedEndpoint::arrive(std::span<const std::byte> announcement) {
  Announcement told;
  insist(announcement.size() == sizeof(told), "an announcement");
  std::memcpy(&told, announcement.data(), sizeof(told));
  insist(!arrival_.header, "one packet at a time");
  arrival_.header = told.header;
  const base::MemoryRef into = sink_.on_header(*this, told.header);
  if (ended_) return;  // closed from inside
  const Status status = mover->pull(told.key, {into.data, told.header.payload_bytes}, arrival_);
  if (status.code() != Code::in_progress) landed(status);
}

void MovedEndpoint::landed(Status status) {
  const auto header = std::exchange(arrival_.header, std::nullopt);
  if (status.code() == Code::cancelled || status.code() == Code::peer_died) return;  // on_closed() follows
  insist(status.ok(), "a mover that moves");
  ++pulled_;
  sink_.on_landed(*this, *header);
  if (!ended_) answer();
}

void MovedEndpoint::acknowledged() {
  insist(leaving_ && leaving_->announced, "an answer to an announcement");
  mover->note_pulled(std::exchange(leaving_->exposure->handle, 0));
  let_go({});
  if (ended_ || leaving_ || !refused_) return;
  refused_ = false;
  sink_.on_writable(*this);
}

// The memory is the caller's again, and nobody reads it.
void MovedEndpoint::let_go(Status outcome) {
  const Leaving left = *std::exchange(leaving_, std::nullopt);
  if (left.exposure && left.exposure->handle != 0) mover->withdraw(left.exposure->handle);
  if (left.lent != nullptr) std::memset(left.lent.get(), 0xdd, left.payload.bytes);
  left.done->fn(*left.done, outcome);
}

void MovedEndpoint::writable() {
  if (leaving_ || !refused_) return;
  refused_ = false;
  sink_.on_writable(*this);
}

void MovedEndpoint::close() noexcept {
  if (ended_) return;
  end(Code::cancelled);
  inner_.close();
}

void MovedEndpoint::end(Status reason) {
  ended_ = true;
  if (std::exchange(arrival_.header, std::nullopt)) mover->stop(arrival_);
  if (leaving_) let_go(reason);
}

}  // namespace parley::transport::contract
