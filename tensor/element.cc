#include "tensor/element.h"

#include <parley/error.h>

#include <cstring>
#include <type_traits>

#include "transport/base/log.h"

namespace parley::tensor {
namespace {

// Elements that are no number that a Scalar could hold.
constexpr bool is_opaque(DType dtype) noexcept {
  return is_f8(dtype) || is_pair(dtype);
}
[[noreturn]] void refuse_opaque(DType dtype) {
  if (is_pair(dtype))
    throw UsageError(base::concat(name(dtype), " elements are pairs: use data_as<ValueIndex<...>>()"));
  throw UsageError(base::concat(name(dtype), " elements are opaque: use their bytes, data_as<std::byte>()"));
}

// Calls fn(std::type_identity<T>{}) with the type of the dtype.
template <typename Fn>
auto visit(DType dtype, const Fn& fn) {
  switch (dtype) {
    case DType::bytes: return fn(std::type_identity<std::byte>{});
    case DType::boolean: return fn(std::type_identity<bool>{});
    case DType::u8: return fn(std::type_identity<std::uint8_t>{});
    case DType::i8: return fn(std::type_identity<std::int8_t>{});
    case DType::i16: return fn(std::type_identity<std::int16_t>{});
    case DType::i32: return fn(std::type_identity<std::int32_t>{});
    case DType::i64: return fn(std::type_identity<std::int64_t>{});
    case DType::f16: return fn(std::type_identity<float16>{});
    case DType::bf16: return fn(std::type_identity<bfloat16>{});
    case DType::f32: return fn(std::type_identity<float>{});
    case DType::f64: return fn(std::type_identity<double>{});
    case DType::complex64: return fn(std::type_identity<std::complex<float>>{});
    case DType::complex128: return fn(std::type_identity<std::complex<double>>{});
    case DType::f8_e4m3:
    case DType::f8_e5m2:
    case DType::f32_i32:
    case DType::f64_i64:
    case DType::i32_i32:
    case DType::i64_i64: break;
  }
  refuse_opaque(dtype);
}

}  // namespace

ElementBytes encode(const Scalar& value, DType dtype) {
  if (is_opaque(dtype)) {
    // All bits zero is zero in all of them.
    if (value.to<double>() != 0) refuse_opaque(dtype);
    return {};
  }
  return visit(dtype, [&](auto type) {
    const typename decltype(type)::type element = value.to<typename decltype(type)::type>();
    ElementBytes bytes{};
    std::memcpy(bytes.data(), &element, sizeof(element));
    return bytes;
  });
}

Scalar decode(const std::byte* element, DType dtype) {
  // A byte other than 0 or 1, as a message may bring, is not a value of bool: any of them means true.
  if (dtype == DType::boolean) return *element != std::byte{0};
  return visit(dtype, [&](auto type) -> Scalar {
    typename decltype(type)::type value;
    std::memcpy(&value, element, sizeof(value));
    return value;
  });
}

}  // namespace parley::tensor
