#include <cmath>
#include <limits>

#include "tensor/reduce/element_kernels.h"

namespace parley::tensor {
namespace {

// Not std::complex, whose product looks for infinities.
template <typename T>
struct Complex {
  T real;
  T imaginary;
};

template <typename T>
T canonical(T x) noexcept {
  return std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x;
}

struct Product {
  template <typename T>
  static Complex<T> combine(Complex<T> a, Complex<T> b) noexcept {
    return {canonical(a.real * b.real - a.imaginary * b.imaginary),
            canonical(a.real * b.imaginary + a.imaginary * b.real)};
  }
};

}  // namespace

FoldKernel complex_product_kernel(DType dtype) noexcept {
  return dtype == DType::complex64 ? &fold_elements<Complex<float>, Product>
                                   : &fold_elements<Complex<double>, Product>;
}

ScaleKernel complex_scale_kernel(DType dtype) noexcept {
  return dtype == DType::complex64 ? &scale_elements<Complex<float>, Complex<float>, Product>
                                   : &scale_elements<Complex<double>, Complex<double>, Product>;
}

}  // namespace parley::tensor
