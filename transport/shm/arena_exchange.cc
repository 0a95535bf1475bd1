#include "transport/shm/arena_exchange.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>
#include <utility>

#include "transport/shm/local_socket.h"

namespace parley::transport::shm {

using base::Code;
using base::Status;
using Kind = HandoverMessage::Kind;

std::optional<ArenaPlace> ArenaExchange::show(base::ConstMemoryRef memory) noexcept {
  if (own_ == nullptr) return std::nullopt;
  const std::optional<ArenaPlace> place = own_->find(memory);
  if (!place) return std::nullopt;
  Shown& shown = ours_[place->segment];
  if (shown == Shown::accepted) return place;
  if (shown != Shown::unknown) return std::nullopt;
  const Segment& segment = own_->segment(place->segment);
  HandoverMessage message;
  message.kind = Kind::offer;
  message.subject = HandoverMessage::Subject::arena;
  message.place = static_cast<std::uint16_t>(place->segment);
  message.bytes = segment.size();
  const int descriptor = segment.fd();
  const Status sent = send_message(socket_, std::as_bytes(std::span(&message, 1)), std::span(&descriptor, 1));
  // A peer that has gone is noticed elsewhere; a socket that is full is tried again.
  if (sent.code() != Code::again) shown = sent.ok() ? Shown::offered : Shown::refused;
  return std::nullopt;
}

const std::byte* ArenaExchange::look(ArenaPlace place, std::uint64_t bytes) const noexcept {
  if (place.segment >= theirs_.size()) return nullptr;
  const Segment* const segment = theirs_[place.segment].get();
  if (segment == nullptr || place.offset > segment->size() || bytes > segment->size() - place.offset)
    return nullptr;
  return segment->data() + place.offset;
}

std::shared_ptr<const std::byte> ArenaExchange::keep(ArenaPlace place, std::uint64_t bytes) const noexcept {
  const std::byte* const memory = look(place, bytes);
  return memory == nullptr ? nullptr : std::shared_ptr<const std::byte>(theirs_[place.segment], memory);
}

std::string ArenaExchange::describe() const {
  const auto is_any = [&](Shown state) {
    return std::find(ours_.begin(), ours_.end(), state) != ours_.end();
  };
  std::string text;
  if (is_any(Shown::accepted)) text += "; it reads our arena";
  if (is_any(Shown::refused)) text += "; it cannot map all of our arena";
  if (std::any_of(theirs_.begin(), theirs_.end(), [](const auto& one) { return one != nullptr; }))
    text += "; we read its arena";
  return text;
}

Status ArenaExchange::take(const HandoverMessage& message, base::UniqueFd memory, bool is_lacking) noexcept {
  if (message.place >= most_arena_segments) return Code::protocol_violation;
  if (message.kind == Kind::offer) {
    if (!is_lacking) return take_offer(message, std::move(memory));
    answer(socket_, message, Kind::refused);
    return {};
  }
  Shown& shown = ours_[message.place];
  if (shown != Shown::offered) return Code::protocol_violation;
  shown = message.kind == Kind::accepted ? Shown::accepted : Shown::refused;
  return {};
}

Status ArenaExchange::take_offer(const HandoverMessage& message, base::UniqueFd memory) noexcept {
  // It may be read at this moment.
  if (look({message.place, 0}, 0) != nullptr) return Code::protocol_violation;
  auto shown = attach_shown(std::move(memory), message.bytes);
  if (!shown && shown.failure().status.code() == Code::protocol_violation) return Code::protocol_violation;
  // The tensors in it are the peer's: a stray write of ours ends us, and spoils none of them.
  if (shown && ::mprotect(shown.value().data(), shown.value().size(), PROT_READ) != 0)
    shown = base::Failure{{Code::exhausted, errno}, {}};
  bool is_mapped = false;
  try {
    if (theirs_.size() <= message.place) theirs_.resize(message.place + std::size_t{1});
    if (shown) theirs_[message.place] = std::make_shared<const Segment>(std::move(shown).value());
    is_mapped = shown.ok();
  } catch (const std::bad_alloc&) {  // it is refused
  }
  answer(socket_, message, is_mapped ? Kind::accepted : Kind::refused);
  return {};
}

}  // namespace parley::transport::shm
