#include "transport/shm/handover.h"

#include <cerrno>
#include <utility>

#include "transport/shm/ring_layout.h"

namespace parley::transport::shm {

using base::Code;
using base::Status;
using base::UniqueFd;

using Kind = HandoverMessage::Kind;
using Subject = HandoverMessage::Subject;

Handover::State Handover::state_of(std::size_t place) const noexcept {
  const Ours& ours = ours_[place];
  return ours.generation == pool_.generation(place) ? ours.state : State::unknown;
}

WindowSet Handover::in_state(State state) const noexcept {
  WindowSet set;
  for (std::size_t place = 0; place < most_windows; ++place) set[place] = state_of(place) == state;
  return set;
}

void Handover::offer_another() noexcept {
  if (in_state(State::offered).any()) return;
  const std::optional<std::size_t> place =
      pool_.another(in_state(State::accepted) | in_state(State::refused));
  if (!place) return;
  HandoverMessage message;
  message.kind = Kind::offer;
  message.subject = Subject::window;
  message.place = static_cast<std::uint16_t>(*place);
  message.generation = pool_.generation(*place);
  message.bytes = pool_.plan().bytes;
  const int memory = pool_.memory(*place).fd();
  const Status sent = send_message(socket_, std::as_bytes(std::span(&message, 1)), std::span(&memory, 1));
  if (sent.code() == Code::again) return;  // the next large packet asks again
  // Else not asked again, whatever is wrong: a peer that has gone is noticed elsewhere.
  ours_[*place] = {message.generation, sent.ok() ? State::offered : State::refused};
}

Status Handover::hear() noexcept {
  bool heard = false;
  for (;;) {
    HandoverMessage message;
    HandedOver descriptors;
    Status got = receive_message(socket_, std::as_writable_bytes(std::span(&message, 1)), descriptors);
    // The error of a peer that left without reading all comes before what it had sent itself.
    if (got.code() == Code::peer_died && got.native() == ECONNRESET) {
      descriptors = {};
      got = receive_message(socket_, std::as_writable_bytes(std::span(&message, 1)), descriptors);
    }
    // Who has no memory to hear is told of the same messages once more, for the epoll set is level-triggered;
    // `again` would say that it was not the socket that is readable.
    if (got.code() == Code::again) return heard || got.native() != 0 ? Status() : got;
    const bool lacks_descriptors = got.code() == Code::exhausted;  // there was no number free for one
    if (!got.ok() && !lacks_descriptors) return got;
    heard = true;
    if (const Status status = take(message, descriptors, lacks_descriptors); !status.ok()) return status;
  }
}

Status Handover::take(const HandoverMessage& message, HandedOver& descriptors, bool is_lacking) noexcept {
  const bool is_offer = message.kind == Kind::offer;
  const bool is_answer = message.kind == Kind::accepted || message.kind == Kind::refused;
  if (message.magic != HandoverMessage::right_magic || !(is_offer || is_answer))
    return Code::protocol_violation;
  if (descriptors[is_offer ? 1 : 0]) return Code::protocol_violation;
  switch (message.subject) {
    case Subject::window: return take_window(message, std::move(descriptors[0]), is_lacking);
    case Subject::arena: return arenas_.take(message, std::move(descriptors[0]), is_lacking);
  }
  return Code::protocol_violation;
}

Status Handover::take_window(const HandoverMessage& message, UniqueFd memory, bool is_lacking) noexcept {
  if (message.place >= most_windows) return Code::protocol_violation;
  if (message.kind == Kind::offer) {
    const auto bytes = static_cast<std::uint32_t>(message.bytes);
    if (bytes != message.bytes || !is_valid_area(bytes)) return Code::protocol_violation;
    if (!is_lacking) return take_offer(message, std::move(memory));
    answer(socket_, message, Kind::refused);
    return {};
  }
  Ours& ours = ours_[message.place];
  // To an offer of a window that is no more.
  if (ours.generation != message.generation) return {};
  if (ours.state != State::offered) return Code::protocol_violation;
  ours.state = message.kind == Kind::accepted ? State::accepted : State::refused;
  return {};
}

Status Handover::take_offer(const HandoverMessage& message, UniqueFd memory) noexcept {
  Segment& place = theirs_[message.place];
  place = {};
  their_bytes_[message.place] = 0;
  auto shown = attach_shown(std::move(memory), message.bytes);
  if (!shown && shown.failure().status.code() == Code::protocol_violation) return Code::protocol_violation;
  if (shown) {
    place = std::move(shown).value();
    their_bytes_[message.place] = static_cast<std::uint32_t>(message.bytes);
  }
  answer(socket_, message, shown ? Kind::accepted : Kind::refused);
  return {};
}

std::span<const std::byte> Handover::peer_window(std::uint64_t place) const noexcept {
  if (place >= most_windows) return {};
  return {theirs_[place].data(), their_bytes_[place]};
}

}  // namespace parley::transport::shm
