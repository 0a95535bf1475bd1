#include "tests/unit/tensor/reduce_reference.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

namespace parley::tests {
namespace {

using Kind = ReduceOp::Kind;

template <typename T>
T read(const Bytes& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
void write(Bytes& bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

template <typename T>
T combine_integers(Kind kind, T a, T b) {
  const auto wide_a = static_cast<std::uint64_t>(a);
  const auto wide_b = static_cast<std::uint64_t>(b);
  switch (kind) {
    case Kind::product: return static_cast<T>(wide_a * wide_b);
    case Kind::min: return b < a ? b : a;
    case Kind::max: return b > a ? b : a;
    case Kind::band: return static_cast<T>(wide_a & wide_b);
    case Kind::bor: return static_cast<T>(wide_a | wide_b);
    case Kind::bxor: return static_cast<T>(wide_a ^ wide_b);
    case Kind::land: return a != 0 && b != 0;
    case Kind::lor: return a != 0 || b != 0;
    default: return static_cast<T>(wide_a + wide_b);
  }
}

bool combine_bools(Kind kind, bool a, bool b) {
  switch (kind) {
    case Kind::bxor: return a != b;
    case Kind::sum:
    case Kind::max:
    case Kind::bor:
    case Kind::lor: return a || b;
    default: return a && b;
  }
}

bool is_less(double a, double b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

template <typename T>
T combine_reals(Kind kind, T a, T b) {
  const bool has_nan = std::isnan(a) || std::isnan(b);
  switch (kind) {
    case Kind::product: return static_cast<T>(static_cast<double>(a) * static_cast<double>(b));
    case Kind::min: return has_nan ? std::numeric_limits<T>::quiet_NaN() : is_less(b, a) ? b : a;
    case Kind::max: return has_nan ? std::numeric_limits<T>::quiet_NaN() : is_less(a, b) ? b : a;
    default: return static_cast<T>(static_cast<double>(a) + static_cast<double>(b));
  }
}

template <typename T>
T canonical(T x) {
  return std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x;
}

template <typename V, typename I>
ValueIndex<V, I> combine_pairs(Kind kind, ValueIndex<V, I> a, ValueIndex<V, I> b) {
  const bool a_is_nan = a.value != a.value;
  const bool b_is_nan = b.value != b.value;
  if (a_is_nan || b_is_nan ? a_is_nan && b_is_nan : a.value == b.value) return b.index < a.index ? b : a;
  if (a_is_nan || b_is_nan) return a_is_nan ? a : b;
  return (kind == Kind::minloc) == (a.value < b.value) ? a : b;
}

// Folds in `Accumulator`, and makes a T of the result.
template <typename T, typename Accumulator, typename Combine, typename Finish>
Bytes fold(std::span<const Bytes> operands, const Combine& combine, const Finish& finish) {
  Bytes result(operands[0].size());
  for (std::size_t i = 0; i < result.size() / sizeof(T); ++i) {
    auto accumulator = static_cast<Accumulator>(read<T>(operands[0], i));
    for (const Bytes& operand : operands.subspan(1))
      accumulator = combine(accumulator, static_cast<Accumulator>(read<T>(operand, i)));
    write<T>(result, i, static_cast<T>(finish(accumulator)));
  }
  return result;
}

template <typename T>
Bytes fold_integers(Kind kind, std::span<const Bytes> operands) {
  return fold<T, T>(
      operands, [kind](T a, T b) { return combine_integers(kind, a, b); }, [](T x) { return x; });
}
template <typename T, typename Accumulator = T>
Bytes fold_reals(Kind kind, std::span<const Bytes> operands) {
  return fold<T, Accumulator>(
      operands, [kind](Accumulator a, Accumulator b) { return combine_reals(kind, a, b); },
      canonical<Accumulator>);
}
template <typename T>
Bytes fold_complex(Kind kind, std::span<const Bytes> operands) {
  if (kind != Kind::product) return fold_reals<T>(kind, operands);
  using Complex = std::complex<T>;
  return fold<Complex, Complex>(
      operands,
      [](Complex a, Complex b) {
        // Each product and sum is rounded by itself.
        const volatile T ac = a.real() * b.real();
        const volatile T bd = a.imag() * b.imag();
        const volatile T ad = a.real() * b.imag();
        const volatile T bc = a.imag() * b.real();
        return Complex(canonical<T>(ac - bd), canonical<T>(ad + bc));
      },
      [](Complex x) { return x; });
}
template <typename V, typename I>
Bytes fold_pairs(Kind kind, std::span<const Bytes> operands) {
  using Pair = ValueIndex<V, I>;
  return fold<Pair, Pair>(
      operands, [kind](Pair a, Pair b) { return combine_pairs(kind, a, b); }, [](Pair x) { return x; });
}
Bytes fold_bools(Kind kind, std::span<const Bytes> operands) {
  Bytes result(operands[0].size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    bool accumulator = operands[0][i] != std::byte{};
    for (const Bytes& operand : operands.subspan(1))
      accumulator = combine_bools(kind, accumulator, operand[i] != std::byte{});
    result[i] = std::byte{accumulator};
  }
  return result;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1d;
  }

 private:
  std::uint64_t state_;
};

template <typename T>
T some_integer(Random& random) {
  const std::uint64_t number = random.next();
  // Half of them small, so that equal ones, zeros and products without overflow occur.
  return static_cast<T>(number % 2 == 0 ? (number >> 8) % 5 - 2 : number >> 8);
}

// Any bits for a third (specials of narrow types are frequent among them), specials, and plain numbers.
template <typename T, typename Word>
T some_real(Random& random) {
  const std::uint64_t number = random.next();
  const auto word = static_cast<Word>(number >> 4);
  T any;
  std::memcpy(static_cast<void*>(&any), &word, sizeof(T));
  using Limits = std::numeric_limits<float>;
  constexpr float specials[] = {
      0,     -0.0f, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), 1, -1, 1e-40f, -1e-40f,
      65504, 3e38f};
  switch (number % 3) {
    case 0: return any;
    case 1: return static_cast<T>(specials[word % std::size(specials)]);
    default: return static_cast<T>(static_cast<float>(word % 4096) / 64 - 32);
  }
}

template <typename T, typename Make>
Bytes fill(std::size_t count, const Make& make) {
  Bytes bytes(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) write<T>(bytes, i, make());
  return bytes;
}

}  // namespace

Bytes reference_fold(Kind kind, DType dtype, std::span<const Bytes> operands) {
  switch (dtype) {
    case DType::boolean: return fold_bools(kind, operands);
    case DType::u8: return fold_integers<std::uint8_t>(kind, operands);
    case DType::i8: return fold_integers<std::int8_t>(kind, operands);
    case DType::i16: return fold_integers<std::int16_t>(kind, operands);
    case DType::i32: return fold_integers<std::int32_t>(kind, operands);
    case DType::i64: return fold_integers<std::int64_t>(kind, operands);
    case DType::f16: return fold_reals<float16, float>(kind, operands);
    case DType::bf16: return fold_reals<bfloat16, float>(kind, operands);
    case DType::f32: return fold_reals<float>(kind, operands);
    case DType::f64: return fold_reals<double>(kind, operands);
    case DType::complex64: return fold_complex<float>(kind, operands);
    case DType::complex128: return fold_complex<double>(kind, operands);
    case DType::f32_i32: return fold_pairs<float, std::int32_t>(kind, operands);
    case DType::f64_i64: return fold_pairs<double, std::int64_t>(kind, operands);
    case DType::i32_i32: return fold_pairs<std::int32_t, std::int32_t>(kind, operands);
    case DType::i64_i64: return fold_pairs<std::int64_t, std::int64_t>(kind, operands);
    case DType::bytes:
    case DType::f8_e4m3:
    case DType::f8_e5m2: break;
  }
  return {};
}

Bytes some_elements(DType dtype, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  const auto reals = [&]<typename T, typename Word>(T, Word, std::size_t numbers) {
    return fill<T>(numbers, [&] { return some_real<T, Word>(random); });
  };
  const auto pairs = [&]<typename V, typename I>(ValueIndex<V, I>) {
    return fill<ValueIndex<V, I>>(count, [&] {
      V value = some_integer<std::int8_t>(random);
      if (std::is_floating_point_v<V> && random.next() % 3 == 0) value = std::numeric_limits<V>::quiet_NaN();
      return ValueIndex<V, I>{value, static_cast<I>(random.next() % 4)};
    });
  };
  switch (dtype) {
    case DType::i16: return fill<std::int16_t>(count, [&] { return some_integer<std::int16_t>(random); });
    case DType::i32: return fill<std::int32_t>(count, [&] { return some_integer<std::int32_t>(random); });
    case DType::i64: return fill<std::int64_t>(count, [&] { return some_integer<std::int64_t>(random); });
    case DType::f16: return reals(float16{}, std::uint16_t{}, count);
    case DType::bf16: return reals(bfloat16{}, std::uint16_t{}, count);
    case DType::f32: return reals(0.0f, std::uint32_t{}, count);
    case DType::f64: return reals(0.0, std::uint64_t{}, count);
    case DType::complex64: return reals(0.0f, std::uint32_t{}, 2 * count);
    case DType::complex128: return reals(0.0, std::uint64_t{}, 2 * count);
    case DType::f32_i32: return pairs(ValueIndex<float, std::int32_t>{});
    case DType::f64_i64: return pairs(ValueIndex<double, std::int64_t>{});
    case DType::i32_i32: return pairs(ValueIndex<std::int32_t, std::int32_t>{});
    case DType::i64_i64: return pairs(ValueIndex<std::int64_t, std::int64_t>{});
    default: return fill<std::uint8_t>(count, [&] { return some_integer<std::uint8_t>(random); });
  }
}

}  // namespace parley::tests
