#include "tests/simulated_nccl/fold.h"

#include <parley/float16.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace parley::nccl::testing {
namespace {

template <typename Visit>
auto visit(Type type, const Visit& visit_it) {
  switch (type) {
    case Type::i8: return visit_it(std::int8_t{});
    case Type::u8: return visit_it(std::uint8_t{});
    case Type::i32: return visit_it(std::int32_t{});
    case Type::u32: return visit_it(std::uint32_t{});
    case Type::i64: return visit_it(std::int64_t{});
    case Type::u64: return visit_it(std::uint64_t{});
    case Type::f16: return visit_it(float16{});
    case Type::bf16: return visit_it(bfloat16{});
    case Type::f32: return visit_it(float{});
    case Type::f64: break;
  }
  return visit_it(double{});
}

template <typename T>
constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

// In which elements of a type are computed: integers wrap around.
template <typename T>
using Wide =
    std::conditional_t<is_half<T>, float, std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>>;

template <typename T>
Wide<T> read(const std::byte* from, std::size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return static_cast<Wide<T>>(value);
}

template <typename T>
void write(std::byte* to, std::size_t i, Wide<T> wide) {
  const T value = static_cast<T>(wide);
  std::memcpy(to + i * sizeof(T), &value, sizeof(T));
}

template <typename T>
bool is_less(Wide<T> one, Wide<T> other) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(one) < static_cast<T>(other);
  else
    return one < other;
}

template <typename T>
Wide<T> combine(Wide<T> one, Wide<T> other, Fold how) {
  switch (how) {
    case Fold::product: return one * other;
    case Fold::max: return is_less<T>(one, other) ? other : one;
    case Fold::min: return is_less<T>(other, one) ? other : one;
    default: return one + other;
  }
}

template <typename T>
Wide<T> divide(Wide<T> sum, std::size_t ranks) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<Wide<T>>(static_cast<T>(sum) / static_cast<T>(ranks));
  else
    return sum / static_cast<Wide<T>>(ranks);
}

}  // namespace

std::size_t size_of(Type type) noexcept {
  return visit(type, [](auto element) { return sizeof(element); });
}

void fold(std::byte* to, std::span<const std::byte* const> operands, std::size_t count, Type type, Fold how) {
  visit(type, [&](auto element) {
    using T = decltype(element);
    for (std::size_t i = 0; i < count; ++i) {
      Wide<T> result = read<T>(operands.front(), i);
      for (const std::byte* operand : operands.subspan(1))
        result = combine<T>(result, read<T>(operand, i), how);
      write<T>(to, i, how == Fold::average ? divide<T>(result, operands.size()) : result);
    }
  });
}

void scale(std::byte* elements, const std::byte* factor, std::size_t count, Type type) {
  visit(type, [&](auto element) {
    using T = decltype(element);
    for (std::size_t i = 0; i < count; ++i) write<T>(elements, i, read<T>(elements, i) * read<T>(factor, 0));
  });
}

}  // namespace parley::nccl::testing
