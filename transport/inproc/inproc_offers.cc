#include "transport/inproc/inproc_offers.h"

#include <new>

namespace parley::transport {

std::optional<OfferTicket> InprocOffers::open(std::size_t end) noexcept try {
  const std::lock_guard lock(mutex_);
  standing_[end].insert(last_ + 1);
  return OfferTicket{0, ++last_};
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

bool InprocOffers::end(std::size_t end, OfferTicket ticket) noexcept {
  const std::lock_guard lock(mutex_);
  return standing_[end].erase(ticket.generation) != 0;
}

}  // namespace parley::transport
