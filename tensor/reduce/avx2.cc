#define PARLEY_ISA avx2
#define PARLEY_VECTOR_BYTES 32
#include "tensor/reduce/table.h"

namespace parley::tensor {

constinit const Kernels avx2_kernels = avx2::make_table();

}  // namespace parley::tensor
