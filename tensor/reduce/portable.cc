#define PARLEY_ISA portable
#define PARLEY_VECTOR_BYTES 16
#include "tensor/reduce/table.h"

namespace parley::tensor {

constinit const Kernels portable_kernels = portable::make_table();

}  // namespace parley::tensor
