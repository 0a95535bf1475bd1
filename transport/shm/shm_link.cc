#include "transport/shm/shm_link.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "transport/base/copy_bulk.h"

namespace parley::transport {

using base::Code;
using base::Status;
using shm::Area;
using shm::Look;
using shm::Record;
using shm::RecordKind;
using shm::Share;

namespace {
// Delivered per link and visit, so that no link starves.
constexpr std::size_t visit_records = 64;
constexpr std::size_t visit_bytes = 1 << 20;
// Of two that write to each other both alternate between writing and reading so much. What lies between them
// is little then, and the caches keep it; by whole windows it would be 8 MiB.
constexpr std::size_t turn_bytes = 256 << 10;

// From here on a payload is faster in lines that have left both caches than in those that the other side has
// just read; README has the measurement.
constexpr std::size_t windowed_bytes = 4 << 10;
// With n pieces the receiver's copy ends 1/n after the sender's; more pieces cost more than they bring.
constexpr std::size_t pieces_of_a_packet = 8;
constexpr std::uint32_t largest_window_piece = 256 << 10;
// Up to here, as many packets having come as were sent is enough to know that the reader waits for the next
// one, and its counts are not looked at: their line comes from its core, between far ones in a sixth of what
// 16 KiB take.
constexpr std::size_t most_bytes_by_answers = 64 << 10;
// So many looks that found nothing come before the lines of the next chunk are fetched: what was sent has
// been read by then, which takes the longer the more it is, and the answer is not on its way.
constexpr std::uint32_t looks_before_fetch(std::size_t chunk_bytes) {
  return static_cast<std::uint32_t>(1 + std::max<std::size_t>(chunk_bytes / 1024, 1));
}
}  // namespace

ShmLink::ShmLink(shm::Acquaintance acquaintance, PacketSink& sink, ShmLinkLists& lists,
                 shm::WindowPool& windows, const shm::Arena* arena)
    : facts_(std::move(acquaintance)),
      writer_(facts_.out.data(), facts_.out_shape),
      reader_(facts_.in.data(), facts_.in_shape),
      sink_(sink),
      lists_(lists),
      windows_(windows),
      arenas_(arena, facts_.socket),
      peer_memory_(std::move(facts_.cross_memory), facts_.socket.get(), facts_.end_of_life.get()),
      handover_(windows, arenas_, facts_.socket) {
  neighbour = &neighbour_;
  has_quick_look = true;
}

ShmLink::~ShmLink() {
  if (NeedyList::is_linked(*this)) NeedyList::remove(*this);
  if (QuietList::is_linked(*this)) QuietList::remove(*this);
}

void ShmLink::need_room() noexcept {
  if (!NeedyList::is_linked(*this)) lists_.needy.push_back(*this);
}

void ShmLink::end(Status reason) noexcept {
  ended_ = reason;
  need_room();
}

Status ShmLink::wait_for_room() noexcept {
  refused_ = true;
  need_room();
  return Code::again;
}

void ShmLink::ring_now() noexcept {
  facts_.bell.ring_if_asleep();
  if (QuietList::is_linked(*this)) QuietList::remove(*this);
}

// A packet is never held back, for it costs no system call: who polls sees it at once. What may wait is the
// look whether the peer sleeps, for the fence before it waits until the peer's core has given the cell away.
Status ShmLink::try_send(const PacketHeader& header, const base::ConstMemoryRef& payload, Completion* done,
                         Urgency urgency) noexcept {
  if (ended()) return ended_;
  if (done_ != nullptr) return wait_for_room();
  const Area area = payload.bytes < windowed_bytes ? Area::own : area_for(payload.bytes);
  const bool is_large = payload.bytes > copy_limit_bytes();
  const std::uint32_t piece = is_large ? piece_for(area, payload.bytes) : 0;
  const auto chunk = std::span(payload.data, is_large ? piece : payload.bytes);
  const Share share = payload.bytes == 0 ? Share::control : Share::data;
  if (payload.bytes >= base::StoreChoice::least_bytes) writer_.set_in_burst(is_in_burst_);
  if (!writer_.try_write(RecordKind::packet, header, chunk, share, area)) return wait_for_room();
  if (std::exchange(is_in_burst_, true)) writer_.fetch_ahead();
  ++unanswered_;
  if (chunk.size() > shm::inline_bytes) {
    last_area_ = area;
    last_bytes_ = static_cast<std::uint32_t>(chunk.size());
    looks_until_fetch_ = looks_before_fetch(chunk.size());
  }
  if (urgency == Urgency::now)
    ring_now();
  else if (!QuietList::is_linked(*this))
    lists_.quiet.push_back(*this);
  // To make one takes as long as some MiB: not before the reader has something to do.
  if (std::exchange(wants_window_, false)) handover_.offer_another();
  if (!is_large) return Code::ok;
  // Two that write to each other are as far from each other both ways.
  lands_from_memory = writer_.stores().goes_past_caches();
  leaving_data_ = payload.data + chunk.size();
  left_bytes_ = payload.bytes - chunk.size();
  piece_bytes_ = piece;
  leaving_area_ = area;
  writer_.set_in_burst(true);
  if (write_pieces()) return Code::ok;
  done_ = done;
  looks_until_fetch_ = 0;
  need_room();
  return Code::in_progress;
}

// Where a payload of at least windowed_bytes goes. A link that has been busy for a while gets a window, and
// the peer is told where it is before the first chunk.
Area ShmLink::area_for(std::size_t payload_bytes) noexcept {
  if (!window_) {
    busy_bytes_ += payload_bytes;
    if (busy_bytes_ < windows_.plan().busy_bytes) return Area::own;
    window_ = windows_.lease(handover_.accepted(), *this);
    wants_window_ = !window_;  // no more once it has one, if a full ring had put the offer off
    if (!window_) return Area::own;
    is_announced_ = false;
  }
  windows_.touch(*window_);
  if (!is_announced_) {
    PacketHeader moved;
    moved.id = static_cast<std::uint32_t>(*window_);
    if (!writer_.try_write(RecordKind::moved, moved, {}, Share::data)) return Area::own;
    writer_.set_window(windows_.memory(*window_).data(), windows_.plan().bytes);
    is_announced_ = true;
  }
  return Area::window;
}

// The least that a receiver waits for, if it waits: half as much where a piece takes little time on its way,
// and two pieces at least. Else few large ones.
std::uint32_t ShmLink::piece_for(Area area, std::size_t payload_bytes) noexcept {
  const bool is_awaited = (payload_bytes <= most_bytes_by_answers && unanswered_ == 0) || writer_.drained();
  if (is_awaited) unanswered_ = 0;
  const std::size_t wanted = is_awaited ? payload_bytes / pieces_of_a_packet : payload_bytes;
  const std::size_t least =
      writer_.stores().cores_are_close()
          ? smallest_piece
          : std::clamp<std::size_t>(std::bit_ceil(payload_bytes) / 2, smallest_piece, 2 * smallest_piece);
  const std::size_t piece =
      std::min<std::size_t>(std::max(std::bit_ceil(wanted), least), largest_piece(area));
  return static_cast<std::uint32_t>(std::min(piece, payload_bytes));
}

std::uint32_t ShmLink::largest_piece(Area area) const noexcept {
  const std::uint32_t longest = writer_.largest_chunk(area);
  return std::min(longest, area == Area::own ? smallest_piece : largest_window_piece);
}

bool ShmLink::give_up_window() noexcept {
  if (done_ != nullptr || !writer_.drained()) return false;
  window_.reset();
  looks_until_fetch_ = 0;
  return true;
}

// A link that has ended writes no more, but the peer may still be reading.
void ShmLink::leave_window() noexcept {
  if (!window_) return;
  if (peer_has_ended_ || writer_.drained())
    windows_.give_back(*window_);
  else
    windows_.retire(*window_);
  window_.reset();
  looks_until_fetch_ = 0;
}

// False: there is no room, or something has come that is to be read before more is written.
bool ShmLink::write_pieces() noexcept {
  for (std::size_t written = 0; left_bytes_ != 0;) {
    if (written >= turn_bytes && reader_.has_next()) return false;
    const std::size_t bytes = std::min<std::size_t>(left_bytes_, piece_bytes_);
    const auto began = copies_in.begin(bytes);
    if (!writer_.try_write(RecordKind::continuation, {}, {leaving_data_, bytes}, Share::data, leaving_area_))
      return false;
    copies_in.end(began, bytes);
    facts_.bell.ring_if_asleep();
    leaving_data_ += bytes;
    left_bytes_ -= bytes;
    written += bytes;
  }
  return true;
}

bool ShmLink::has_room() noexcept {
  if (done_ != nullptr)
    return writer_.has_room(leaving_area_,
                            static_cast<std::uint32_t>(std::min<std::size_t>(left_bytes_, piece_bytes_)));
  // Whatever was refused.
  const bool has_window = window_ && is_announced_;
  return writer_.has_room(Area::own, writer_.largest_chunk(Area::own)) &&
         (!has_window || writer_.has_room(Area::window, largest_piece(Area::window)));
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
    const bool is_complete = write_pieces();
    if (left_bytes_ != before) ++events;
    if (!is_complete) return events;
    ++events;
    Completion* done = std::exchange(done_, nullptr);
    done->fn(*done, {});  // may post the next large packet
  }
  if (!ended() && done_ == nullptr && refused_ && has_room()) {
    refused_ = false;
    ++events;
    sink_.on_writable(*this);
  }
  if (!ended() && done_ == nullptr && !refused_ && NeedyList::is_linked(*this)) NeedyList::remove(*this);
  return events;
}

std::size_t ShmLink::receive() noexcept {
  std::size_t events = 0;
  std::size_t bytes = 0;
  Record record;
  const std::size_t most_bytes = done_ == nullptr ? visit_bytes : turn_bytes;
  const ShmPulling& pulling = lists_.pulling;
  const std::uint64_t begun_before = pulling.begun_bytes;
  const std::uint64_t most_to_begin = has_begun_pulls_ ? PullMover::turn_bytes : 1;
  while (!ended() && events < visit_records && bytes < most_bytes) {
    const Look look = reader_.look(record);
    if (look == Look::empty) break;
    ++events;
    is_in_burst_ = false;
    looks_until_fetch_ = 0;
    bytes += record.chunk.size();
    if (events > shm::RingReader::cells_ahead) reader_.fetch_ahead();
    if (look == Look::record && is_whole(record)) [[likely]] {
      if (events == 1 && came_alone_) writer_.fetch_for_answer(record.chunk.size());
      note_answer();
      sink_.on_packet(*this, record.header, record.chunk);
    } else if (const Status status =
                   look == Look::record ? deliver(record) : Status(Code::protocol_violation);
               !status.ok()) {
      end(status);
      break;
    }
    if (reader_.release()) facts_.bell.ring_if_asleep();
    // What was offered is pulled first, as much as a turn takes: who reads on is as slow as a sender that
    // offers one message after another.
    if (pulling.begun_bytes - begun_before >= most_to_begin) {
      reader_.fetch_next();
      break;
    }
  }
  if (events != 0) {
    came_alone_ = events == 1;
    has_begun_pulls_ = pulling.begun_bytes != begun_before;
  }
  // Who sees that all was read sends the next large packet in pieces, and can give up its window.
  if (!ended() && !reader_.has_next()) reader_.hand_back();
  // Nothing follows the peer's end: it had written all this before.
  if (peer_has_ended_ && events == 0 && !ended()) {
    end(Code::peer_died);
    ++events;
  }
  return events;
}

// Whether it is a packet with all its payload, and comes in its turn.
bool ShmLink::is_whole(const Record& record) const noexcept {
  return record.kind == RecordKind::packet && missing_bytes_ == 0 &&
         record.chunk.size() == record.header.payload_bytes && record.chunk.size() <= max_payload_bytes;
}

// What is not whole, or no packet.
Status ShmLink::deliver(const Record& record) noexcept {
  if (record.kind == RecordKind::continuation) return land(record.chunk);
  if (record.kind == RecordKind::moved) return move(record.header.id);
  const PacketHeader& header = record.header;
  const bool is_packet = record.kind == RecordKind::packet && missing_bytes_ == 0;
  if (!is_packet || header.payload_bytes > max_payload_bytes || record.chunk.size() >= header.payload_bytes)
    return Code::protocol_violation;
  landing_ = header;
  missing_bytes_ = header.payload_bytes;
  note_answer();
  first_piece_bytes = record.chunk.size();
  sender_was_ahead = reader_.has_another();
  if (header.payload_bytes > most_bytes_by_answers) writer_.fetch_counts();
  if (!sender_was_ahead) writer_.fetch_for_answer_in_pieces();
  destination_ = sink_.on_header(*this, header).data;
  return land(record.chunk);
}

// The peer writes through another of its windows from now on.
Status ShmLink::move(std::uint64_t place) noexcept {
  const auto window = handover_.peer_window(place);
  if (window.empty()) return Code::protocol_violation;
  window_read_ = place;
  reader_.set_window(window.data(), static_cast<std::uint32_t>(window.size()));
  return {};
}

Status ShmLink::land(std::span<const std::byte> chunk) noexcept {
  if (ended()) return {};  // on_header() has closed this link
  if (chunk.empty() || chunk.size() > missing_bytes_) return Code::protocol_violation;
  const auto began = copies_out.begin(chunk.size());
  base::copy_bulk(destination_, chunk.data(), chunk.size());
  copies_out.end(began, chunk.size());
  destination_ += chunk.size();
  missing_bytes_ -= chunk.size();
  if (missing_bytes_ == 0) sink_.on_landed(*this, landing_);
  return {};
}

void ShmLink::look_at_peer() noexcept {
  const Status heard = handover_.hear();
  // It may have come in the place of the one that is being read through.
  const auto window = handover_.peer_window(window_read_);
  reader_.set_window(window.data(), static_cast<std::uint32_t>(window.size()));
  if (heard.code() == Code::protocol_violation) return end(heard);
  // Nothing was said, so that it is the other descriptor that tells of the end.
  if (!heard.ok()) peer_has_ended_ = true;
}

void ShmLink::close() noexcept {
  if (ended()) return;
  end(Code::closed);
  abandon();
}

void ShmLink::abandon() noexcept {
  leave_window();
  missing_bytes_ = 0;
  if (Completion* done = std::exchange(done_, nullptr); done != nullptr) done->fn(*done, Code::cancelled);
}

}  // namespace parley::transport
