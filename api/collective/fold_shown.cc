#include "api/collective/fold_shown.h"

#include <algorithm>
#include <array>

#include "transport/base/copy_bulk.h"
#include "transport/base/non_temporal.h"

namespace parley::collective {

using base::StoreChoice;

namespace {

constexpr std::size_t page = 4096;

// A page that is met for the first time takes as long as lines that come from afar.
void touch_pages(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += page) to[at] = from[at];
  to[bytes - 1] = from[bytes - 1];
}

}  // namespace

void fold_shown(StoreChoice& stores, const tensor::Reduction& reduction, std::byte* to,
                std::span<const void*> operands, std::uint64_t count) noexcept {
  using Way = StoreChoice::Way;
  const std::size_t element_bytes = size_of(reduction.dtype());
  alignas(64) std::array<std::byte, 4 * page> home;
  while (count != 0) {
    const std::uint64_t part = std::min<std::uint64_t>(count, home.size() / element_bytes);
    const std::size_t bytes = part * element_bytes;
    const Way way = bytes < StoreChoice::least_bytes ? Way::cached : stores.next();
    reduction.fold(way == Way::cached ? to : home.data(), operands, part);
    if (way == Way::past_caches) {
      base::copy_past_caches(to, home.data(), bytes);
    } else if (way == Way::cached_timed) {
      touch_pages(to, home.data(), bytes);
      base::store_timed(stores, home.data(), bytes, [&](std::size_t at, std::size_t piece) {
        base::copy_bulk(to + at, home.data() + at, piece);
      });
    }
    to += bytes;
    count -= part;
    for (const void*& operand : operands) operand = static_cast<const std::byte*>(operand) + bytes;
  }
}

}  // namespace parley::collective
