#include "transport/inproc/device_offers.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace parley::transport {
namespace {

constexpr std::size_t page_bytes = 2 * offer_word_bytes;

std::byte* make_page() {
  void* const page = std::aligned_alloc(page_bytes, page_bytes);
  if (page == nullptr) throw std::bad_alloc();
  std::memset(page, 0, page_bytes);
  return static_cast<std::byte*>(page);
}

}  // namespace

void DeviceOffers::Free::operator()(std::byte* memory) const noexcept {
  std::free(memory);
}

DeviceOffers::DeviceOffers() : words_(make_page()) {
  for (Side& side : sides_)
    for (std::uint32_t number = most; number-- != 0;) side.unused[side.unused_count++] = number;
}

std::optional<OfferTicket> DeviceOffers::open(std::size_t side) noexcept {
  const std::lock_guard lock(mutex_);
  Side& own = sides_[side];
  if (own.unused_count == 0) return std::nullopt;
  const std::uint32_t number = own.unused[--own.unused_count];
  Offer& offer = own.offers[number];
  offer.state = State::standing;
  return OfferTicket{number, ++offer.generation};
}

void DeviceOffers::release(Side& side, std::uint32_t number) noexcept {
  side.offers[number].state = State::unused;
  side.unused[side.unused_count++] = number;
}

bool DeviceOffers::withdraw(std::size_t side, OfferTicket ticket) noexcept {
  std::unique_lock lock(mutex_);
  const Offer& offer = sides_[side].offers[ticket.word];
  told_.wait(lock, [&] { return offer.state != State::being_told; });
  const bool stood = offer.state == State::standing;
  release(sides_[side], ticket.word);
  return stood;
}

void DeviceOffers::forget(std::size_t side, OfferTicket ticket) noexcept {
  const std::lock_guard lock(mutex_);
  release(sides_[side], ticket.word);
}

bool DeviceOffers::take(std::size_t side, OfferTicket ticket) noexcept {
  const std::lock_guard lock(mutex_);
  Offer& offer = sides_[side].offers[ticket.word];
  if (offer.state != State::standing || offer.generation != ticket.generation) return false;
  offer.state = State::being_told;
  return true;
}

void DeviceOffers::note_told(std::size_t side, OfferTicket ticket) noexcept {
  {
    const std::lock_guard lock(mutex_);
    sides_[side].offers[ticket.word].state = State::taken;
  }
  told_.notify_all();
}

}  // namespace parley::transport
