#include "tensor/reduce/element_kernels.h"
#include "tensor/reduce/element_operations.h"

namespace parley::tensor {

FoldKernel complex_product_kernel(DType dtype) noexcept {
  return dtype == DType::complex64 ? &fold_elements<Complex<float>, ComplexProduct>
                                   : &fold_elements<Complex<double>, ComplexProduct>;
}

ScaleKernel complex_scale_kernel(DType dtype) noexcept {
  return dtype == DType::complex64 ? &scale_elements<Complex<float>, Complex<float>, ComplexProduct>
                                   : &scale_elements<Complex<double>, Complex<double>, ComplexProduct>;
}

}  // namespace parley::tensor
