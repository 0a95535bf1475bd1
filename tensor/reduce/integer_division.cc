#include <cstdint>

#include "tensor/reduce/element_kernels.h"

namespace parley::tensor {
namespace {

// Up to 32 bits by way of double, which vector instructions can divide. That is exact: a quotient that is no
// integer is at least 1/divisor from the next one, and the rounding error below 2^-22/divisor.
struct Quotient {
  template <typename T>
  static T combine(T element, std::int64_t divisor) noexcept {
    if constexpr (sizeof(T) < 8)
      return static_cast<T>(static_cast<double>(element) / static_cast<double>(divisor));
    return static_cast<T>(element / divisor);
  }
};

template <typename T>
constexpr ScaleKernel kernel = &scale_elements<T, std::int64_t, Quotient>;

}  // namespace

ScaleKernel integer_division_kernel(DType dtype) noexcept {
  switch (dtype) {
    case DType::u8: return kernel<std::uint8_t>;
    case DType::i8: return kernel<std::int8_t>;
    case DType::i16: return kernel<std::int16_t>;
    case DType::i32: return kernel<std::int32_t>;
    default: return kernel<std::int64_t>;
  }
}

}  // namespace parley::tensor
