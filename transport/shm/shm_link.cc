#include "transport/shm/shm_link.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace parley::transport {

using base::Code;
using base::Status;
using shm::Look;
using shm::Record;
using shm::RecordKind;
using shm::Share;

namespace {
// Delivered per link and visit, so that no link starves.
constexpr std::size_t visit_records = 64;
}  // namespace

ShmLink::ShmLink(shm::Acquaintance acquaintance, PacketSink& sink, NeedyList& needy)
    : facts_(std::move(acquaintance)),
      writer_(facts_.out.data(), facts_.out_shape),
      reader_(facts_.in.data(), facts_.in_shape),
      sink_(sink),
      needy_(needy) {}

ShmLink::~ShmLink() {
  if (NeedyList::is_linked(*this)) NeedyList::remove(*this);
}

void ShmLink::need_room() noexcept {
  if (!NeedyList::is_linked(*this)) needy_.push_back(*this);
}

void ShmLink::end(Status reason) noexcept {
  ended_ = reason;
  need_room();
}

Status ShmLink::try_send(const PacketHeader& header, base::ConstMemoryRef payload, Completion* done,
                         Urgency /*a message costs no system call, so none is held back*/) noexcept {
  if (ended()) return ended_;
  const bool is_large = payload.bytes > writer_.largest_chunk();
  const auto chunk = std::span(payload.data, is_large ? writer_.largest_chunk() : payload.bytes);
  const Share share = payload.bytes == 0 ? Share::control : Share::data;
  if (done_ != nullptr || !writer_.try_write(RecordKind::packet, header, chunk, share)) {
    refused_ = true;
    need_room();
    return Code::again;
  }
  if (is_large) {
    leaving_ = header;
    leaving_data_ = payload.data + chunk.size();
    left_bytes_ = payload.bytes - chunk.size();
    done_ = done;
    write_chunks();
    need_room();
  }
  facts_.bell.ring_if_asleep();
  return is_large ? Code::in_progress : Code::ok;
}

// False: the ring is full.
bool ShmLink::write_chunks() noexcept {
  while (left_bytes_ != 0) {
    const std::size_t bytes = std::min<std::size_t>(left_bytes_, writer_.largest_chunk());
    if (!writer_.try_write(RecordKind::continuation, {}, {leaving_data_, bytes}, Share::data)) return false;
    leaving_data_ += bytes;
    left_bytes_ -= bytes;
  }
  return true;
}

std::size_t ShmLink::use_room() noexcept {
  if (ended()) return 0;
  if (writer_.broken()) {
    end(Code::protocol_violation);
    return 1;
  }
  std::size_t events = 0;
  if (done_ != nullptr) {
    const std::size_t before = left_bytes_;
    const bool is_complete = write_chunks();
    if (left_bytes_ != before) {
      ++events;
      facts_.bell.ring_if_asleep();
    }
    if (!is_complete) return events;
    ++events;
    Completion* done = std::exchange(done_, nullptr);
    done->fn(*done, {});  // may post the next large packet
  }
  if (!ended() && done_ == nullptr && refused_ && writer_.has_room()) {
    refused_ = false;
    ++events;
    sink_.on_writable(*this);
  }
  if (!ended() && done_ == nullptr && !refused_ && NeedyList::is_linked(*this)) NeedyList::remove(*this);
  return events;
}

std::size_t ShmLink::receive() noexcept {
  std::size_t events = 0;
  Record record;
  while (!ended() && events < visit_records) {
    const Look look = reader_.look(record);
    if (look == Look::empty) break;
    ++events;
    const Status status = look == Look::broken ? Status(Code::protocol_violation) : deliver(record);
    if (!status.ok()) {
      end(status);
      break;
    }
    if (reader_.release()) facts_.bell.ring_if_asleep();
  }
  // Whatever ended this visit: there will be no other before something comes, and the writer may need all
  // room.
  if (!ended() && !reader_.has_next() && reader_.hand_back()) facts_.bell.ring_if_asleep();
  // Nothing follows the peer's end: it had written all this before.
  if (peer_has_ended_ && events == 0 && !ended()) {
    end(Code::peer_died);
    ++events;
  }
  return events;
}

Status ShmLink::deliver(const Record& record) noexcept {
  if (record.kind == RecordKind::continuation) return land(record.chunk);
  const PacketHeader& header = record.header;
  const bool is_packet = record.kind == RecordKind::packet && missing_bytes_ == 0;
  if (!is_packet || header.payload_bytes > max_payload_bytes || record.chunk.size() > header.payload_bytes)
    return Code::protocol_violation;
  if (record.chunk.size() == header.payload_bytes) {
    sink_.on_packet(*this, header, record.chunk);
    return {};
  }
  landing_ = header;
  missing_bytes_ = header.payload_bytes;
  destination_ = sink_.on_header(*this, header).data;
  return land(record.chunk);
}

Status ShmLink::land(std::span<const std::byte> chunk) noexcept {
  if (ended()) return {};  // on_header() has closed this link
  if (chunk.empty() || chunk.size() > missing_bytes_) return Code::protocol_violation;
  std::memcpy(destination_, chunk.data(), chunk.size());
  destination_ += chunk.size();
  missing_bytes_ -= chunk.size();
  if (missing_bytes_ == 0) sink_.on_landed(*this, landing_);
  return {};
}

void ShmLink::look_at_peer() noexcept {
  // Nothing is said on the socket once the link stands: whatever is to be read there is the end.
  peer_has_ended_ = true;
}

void ShmLink::close() noexcept {
  if (ended()) return;
  end(Code::closed);
  abandon();
}

void ShmLink::abandon() noexcept {
  missing_bytes_ = 0;
  if (Completion* done = std::exchange(done_, nullptr); done != nullptr) done->fn(*done, Code::cancelled);
}

}  // namespace parley::transport
