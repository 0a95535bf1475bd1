#include "tensor/reduce/choice.h"

#include <parley/error.h>

#include <cstring>

#include "transport/base/log.h"

namespace parley::tensor {
namespace {

using Kind = ReduceOp::Kind;

// The lane of a type's numbers. REQUIRES: an integer, floating-point or complex type
Lane lane_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::i8: return Lane::i8;
    case DType::i16: return Lane::i16;
    case DType::i32: return Lane::i32;
    case DType::i64: return Lane::i64;
    case DType::f16: return Lane::f16;
    case DType::bf16: return Lane::bf16;
    case DType::f32:
    case DType::complex64: return Lane::f32;
    case DType::f64:
    case DType::complex128: return Lane::f64;
    default: return Lane::u8;
  }
}

// The one of four neighbouring lanes that has this width.
Lane of_width(Lane first, DType dtype) noexcept {
  const std::size_t step = size_of(dtype) == 8 ? 3 : size_of(dtype) / 2;
  return static_cast<Lane>(static_cast<std::size_t>(first) + step);
}

Cell cell_of_bool(Kind kind) noexcept {
  switch (kind) {
    case Kind::bxor: return {Lane::truth8, Combine::bit_xor};
    case Kind::sum:
    case Kind::max:
    case Kind::bor:
    case Kind::lor: return {Lane::truth8, Combine::bit_or};
    default: return {Lane::truth8, Combine::bit_and};
  }
}

// The type in which the factor meets the elements.
DType factor_type(DType dtype) noexcept {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

template <typename T>
ElementBytes bytes_of(T value) noexcept {
  ElementBytes bytes = {};
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

}  // namespace

FoldMethod fold_method(Kind kind, DType dtype) noexcept {
  if (kind == Kind::custom) return FoldMethod::function;
  if (is_pair(dtype)) return FoldMethod::location;
  if (is_complex(dtype) && kind == Kind::product) return FoldMethod::complex_product;
  return FoldMethod::cell;
}

Cell cell_of(Kind kind, DType dtype) noexcept {
  if (dtype == DType::boolean) return cell_of_bool(kind);
  const bool is_integer = !is_floating_point(dtype) && !is_complex(dtype);
  const Lane lane = lane_of(dtype);
  const Lane wrapping = is_integer ? of_width(Lane::u8, dtype) : lane;
  switch (kind) {
    case Kind::product: return {wrapping, Combine::multiply};
    case Kind::min: return {lane, Combine::minimum};
    case Kind::max: return {lane, Combine::maximum};
    case Kind::band: return {Lane::u8, Combine::bit_and};
    case Kind::bor: return {Lane::u8, Combine::bit_or};
    case Kind::bxor: return {Lane::u8, Combine::bit_xor};
    case Kind::land: return {of_width(Lane::truth8, dtype), Combine::bit_and};
    case Kind::lor: return {of_width(Lane::truth8, dtype), Combine::bit_or};
    default: return {wrapping, Combine::add};
  }
}

bool divides_in_lane(DType dtype) noexcept {
  return is_floating_point(dtype) || is_complex(dtype);
}

ElementBytes factor_of(const ReduceOp& op, DType dtype) {
  return encode(op.factor(), factor_type(dtype));
}

ElementBytes divisor_of(DType dtype, std::int64_t ranks) noexcept {
  if (!divides_in_lane(dtype)) return bytes_of(ranks);
  if (lane_of(dtype) == Lane::f64) return bytes_of(static_cast<double>(ranks));
  return bytes_of(static_cast<float>(ranks));
}

const ReduceOp& checked(const ReduceOp& op, DType dtype) {
  if (const auto reason = reason_against(op.kind(), dtype); !reason.empty())
    throw UsageError(base::concat(name(op), " of ", name(dtype), ": ", reason));
  return op;
}

}  // namespace parley::tensor
