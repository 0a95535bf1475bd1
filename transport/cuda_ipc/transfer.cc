#include "transport/cuda_ipc/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace parley::transport::cuda_ipc {

using base::Status;
using cuda::Code;
using cuda::DeviceScope;
using cuda::PinnedBlock;
using cuda::PinnedPool;

namespace {
using WaitingList = base::IntrusiveList<Transfer, WaitingTag>;
// What goes by the link is cut into as much as a block holds; into so much at first where nothing else of its
// lane is on its way, so that the first piece leaves soon.
constexpr std::size_t first_piece_bytes = 256 << 10;
}  // namespace

Transfer::~Transfer() {
  let_go();
  if (landing_ != nullptr) desk_.pinned.give_back(landing_);
  end_reading();
}

void Transfer::hold(std::shared_ptr<Slots> slots, Slot& slot) noexcept {
  slots_ = std::move(slots);
  slot_ = &slot;
  is_followed_ = false;
}

// What our stream does from now on comes after the peer's copy.
Code Transfer::follow_peer(Look look) noexcept {
  if (is_followed_) return Code::ok;
  const std::size_t finished = finished_of(slot_->number);
  const bool is_seen = look == Look::briefly && slots_->semaphores().look_briefly(finished);
  const Code code = is_seen ? Code::ok : slots_->semaphores().await(stream_, finished);
  is_followed_ = code == Code::ok;
  return code;
}

void Transfer::let_go() noexcept {
  if (slot_ == nullptr) return;
  // Whoever uses the memory next, or frees it, does so after the peer has used it: also where nobody has
  // waited for the operation, or it ended badly when the peer had begun.
  if (slot_->state == Slot::State::taken || slot_->state == Slot::State::copied) {
    const DeviceScope scope(*port_.api(), desk_.device);
    (void)follow_peer();
  }
  slots_->free(*std::exchange(slot_, nullptr), stream_);
  slots_.reset();
}

Code Transfer::land(std::size_t bytes) noexcept {
  if (slot_->block.memory == nullptr) return Code::ok;
  const DeviceScope scope(*port_.api(), desk_.device);
  const Code code = follow_peer();
  return code == Code::ok ? port_.api()->copy(address_, slot_->block.memory, bytes, stream_) : code;
}

Code Transfer::copy(Direction direction, std::byte* peers, std::size_t bytes, Semaphores& semaphores,
                    std::uint32_t slot) noexcept {
  cuda::Api& api = *port_.api();
  const DeviceScope scope(api, desk_.device);
  Code code = semaphores.await(stream_, ready_of(slot));
  if (code == Code::ok)
    code = direction == Direction::from_peer ? api.copy(address_, peers, bytes, stream_)
                                             : api.copy(peers, address_, bytes, stream_);
  if (code == Code::ok) code = semaphores.keep_promise(stream_, finished_of(slot));
  // Or the peer's stream would wait for it. By ours, if that can be told anything: it may have an earlier
  // signal to give, which would take this one back.
  if (code != Code::ok && semaphores.keep_promise(stream_, finished_of(slot)) != Code::ok)
    semaphores.give(finished_of(slot));
  return code;
}

Code Transfer::order(cuda::Stream stream, Look look) noexcept {
  const bool is_copied = slot_ != nullptr && slot_->state == Slot::State::copied;
  if (!is_copied && stream == stream_) return Code::ok;
  cuda::Api& api = *port_.api();
  const DeviceScope scope(api, desk_.device);
  if (is_copied)
    if (const Code code = follow_peer(look); code != Code::ok) return code;
  if (stream == stream_) return Code::ok;
  cuda::Event reached = nullptr;
  Code code = desk_.events.take(reached);
  if (code != Code::ok) return code;
  code = api.record(reached, stream_);
  if (code == Code::ok) code = api.wait(stream, reached);
  desk_.events.give_back(reached);
  return code;
}

Status Transfer::write(std::size_t offset, std::span<const std::byte> from) noexcept {
  cuda::Api& api = *port_.api();
  const DeviceScope scope(api, desk_.device);
  while (!from.empty()) {
    const std::size_t bytes = std::min(from.size(), PinnedPool::large_bytes);
    PinnedBlock* const block = desk_.pinned.take(bytes, PinnedPool::Need::is_pressing);
    // Without one, where there is no memory, the driver copies what is not pinned before it returns.
    if (block == nullptr) return status_of(api.copy(address_ + offset, from.data(), from.size(), stream_));
    std::memcpy(block->data, from.data(), bytes);
    const Code copied = api.copy(address_ + offset, block->data, bytes, stream_);
    const Code given = desk_.pinned.give_back_after(block, stream_);
    if (copied != Code::ok || given != Code::ok) return status_of(copied != Code::ok ? copied : given);
    offset += bytes;
    from = from.subspan(bytes);
  }
  return {};
}

std::byte* Transfer::landing_place(std::size_t bytes) noexcept {
  if (bytes > PinnedPool::large_bytes) return nullptr;
  const DeviceScope scope(*port_.api(), desk_.device);
  landing_ = desk_.pinned.take(bytes);
  return landing_ != nullptr ? landing_->data : nullptr;
}

Status Transfer::landed(std::byte* place, std::size_t offset, std::size_t bytes) noexcept {
  cuda::Api& api = *port_.api();
  const DeviceScope scope(api, desk_.device);
  const Code copied = api.copy(address_ + offset, place, bytes, stream_);
  const Code given = desk_.pinned.give_back_after(std::exchange(landing_, nullptr), stream_);
  return status_of(copied != Code::ok ? copied : given);
}

void Transfer::abandon(std::byte*) noexcept {
  desk_.pinned.give_back(std::exchange(landing_, nullptr));
}

void Transfer::begin_reading(std::size_t bytes, int receiver) noexcept {
  wanted_ = bytes;
  lane_ = desk_.lane(stream_, receiver);
  if (lane_ == nullptr) {
    reading_ = Code::out_of_memory;  // next_piece() tells
    return;
  }
  ++lane_->readers;
  lane_->waiting.push_back(*this);
  read_ahead(*lane_);
}

// Begins as many pieces as there is room for, of those first that were granted first.
void Transfer::read_ahead(ReadLane& lane) noexcept {
  while (lane.ahead_bytes < ReadLane::most_ahead_bytes) {
    Transfer* const first = lane.waiting.front();
    if (first == nullptr || !first->begin_pieces()) return;
    WaitingList::remove(*first);
  }
}

// True: there is nothing more to begin. False: there is no room, or it has failed, and is tried once more.
bool Transfer::begin_pieces() noexcept {
  const DeviceScope scope(*port_.api(), desk_.device);
  while (begun_ < wanted_) {
    if (end_ - first_ == most_pieces || lane_->ahead_bytes >= ReadLane::most_ahead_bytes) return false;
    const std::size_t most =
        begun_ == 0 && lane_->ahead_bytes == 0 ? first_piece_bytes : PinnedPool::large_bytes;
    const std::size_t bytes = std::min(wanted_ - begun_, most);
    PinnedBlock* block = desk_.pinned.take(bytes);
    if (block == nullptr && (first_ != end_ || desk_.pinned.has_blocks_for(bytes))) return false;
    // Nobody has one that could be given back.
    if (block == nullptr) block = desk_.pinned.take(bytes, PinnedPool::Need::is_pressing);
    reading_ = block != nullptr ? begin_piece(*block, bytes) : Code::out_of_memory;
    if (reading_ != Code::ok) return false;
  }
  return true;
}

void Transfer::end_reading() noexcept {
  if (lane_ == nullptr) return;
  if (WaitingList::is_linked(*this)) WaitingList::remove(*this);
  for (; first_ != end_; ++first_) {
    const Piece& piece = piece_at(first_);
    end_piece(piece);
    if (piece.mark.number <= lane_->here) {
      desk_.pinned.give_back(piece.block);
      continue;
    }
    // A failure here is the device's, and whoever uses it next is told.
    const DeviceScope scope(*port_.api(), desk_.device);
    (void)desk_.pinned.give_back_after(piece.block, stream_);
  }
  --std::exchange(lane_, nullptr)->readers;
}

Code Transfer::begin_piece(PinnedBlock& block, std::size_t bytes) noexcept {
  cuda::Api& api = *port_.api();
  Piece piece{.block = &block, .mark = {.number = lane_->begun + 1}, .bytes = bytes};
  cuda::Event& end = piece.mark.event;
  Code code = desk_.events.take(end);
  if (code != Code::ok) {
    desk_.pinned.give_back(&block);
    return code;
  }
  code = api.copy(block.data, address_ + begun_, bytes, stream_);
  if (code == Code::ok) code = api.record(end, stream_);
  if (code != Code::ok) {
    desk_.events.give_back(end);
    (void)desk_.pinned.give_back_after(&block, stream_);
    return code;
  }
  piece_at(end_++) = piece;
  lane_->latest = piece.mark;
  ++lane_->begun;
  begun_ += bytes;
  lane_->ahead_bytes += block.bytes;
  return code;
}

void Transfer::end_piece(const Piece& piece) noexcept {
  // The event is about to tell of something else.
  for (ReadLane::Mark* known : {&lane_->latest, &lane_->asked})
    if (known->number == piece.mark.number) *known = {};
  desk_.events.give_back(piece.mark.event);
  lane_->ahead_bytes -= piece.block->bytes;
}

// Whether this piece of the lane has come: ok, not_ready, or the device's failure. Where it has, one that was
// told to the device a while ago is asked about, too: unless the device is slower than the link, all up to
// that one are here.
Code Transfer::look_for(const ReadLane::Mark& mark) noexcept {
  ReadLane& lane = *lane_;
  if (mark.number <= lane.here) return Code::ok;
  const DeviceScope scope(*port_.api(), desk_.device);
  const auto ask = [&](const ReadLane::Mark& about) {
    const Code answer = port_.api()->query(about.event);
    if (answer == Code::ok) lane.here = about.number;
    return answer;
  };
  const Code code = ask(mark);
  if (code == Code::ok && lane.asked.number > mark.number) (void)ask(lane.asked);
  if (lane.asked.number <= lane.here) lane.asked = lane.latest;
  return code;
}

Status Transfer::next_piece(std::span<const std::byte>& piece) noexcept {
  if (first_ == end_ && lane_ != nullptr) {
    reading_ = Code::ok;
    read_ahead(*lane_);
  }
  if (first_ == end_) return reading_ == Code::ok ? Status(base::Code::again) : status_of(reading_);
  const Piece& next = piece_at(first_);
  const Code code = look_for(next.mark);
  if (code == Code::not_ready) return base::Code::again;
  if (code != Code::ok) return status_of(code);
  piece = {next.block->data, next.bytes};
  return {};
}

void Transfer::piece_sent() noexcept {
  const Piece& sent = piece_at(first_++);
  end_piece(sent);
  desk_.pinned.give_back(sent.block);
  read_ahead(*lane_);
}

}  // namespace parley::transport::cuda_ipc
