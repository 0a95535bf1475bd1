#include "transport/base/copy_bulk.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace parley::base {

#if defined(__x86_64__)

namespace {

struct Line {
  static constexpr std::size_t bytes = 64;
  __m128i first, second, third, fourth;

  static Line load(const std::byte* from) noexcept {
    const auto* const at = reinterpret_cast<const __m128i*>(from);
    return {_mm_loadu_si128(at), _mm_loadu_si128(at + 1), _mm_loadu_si128(at + 2), _mm_loadu_si128(at + 3)};
  }
  void store(std::byte* to) const noexcept {
    auto* const at = reinterpret_cast<__m128i*>(to);
    _mm_storeu_si128(at, first);
    _mm_storeu_si128(at + 1, second);
    _mm_storeu_si128(at + 2, third);
    _mm_storeu_si128(at + 3, fourth);
  }
};

}  // namespace

void copy_by_moves(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes >= Line::bytes) {
    Line line = Line::load(from);
    for (; bytes >= 2 * Line::bytes; bytes -= Line::bytes, to += Line::bytes, from += Line::bytes) {
      const Line next = Line::load(from + Line::bytes);
      line.store(to);
      line = next;
    }
    line.store(to);
    bytes -= Line::bytes;
    to += Line::bytes;
    from += Line::bytes;
  }
  if (bytes != 0) std::memcpy(to, from, bytes);
}

#else

void copy_by_moves(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}

#endif

}  // namespace parley::base
