#define PARLEY_ISA avx512
#define PARLEY_VECTOR_BYTES 64
#include "tensor/reduce/table.h"

namespace parley::tensor {

constinit const Kernels avx512_kernels = avx512::make_table();

}  // namespace parley::tensor
