#include "tensor/reduce/cuda/kernel_list.h"
#include "tensor/reduce/cuda/loops.h"

// The kernels of kernel_list.h, for any number of blocks and threads in one dimension.
namespace parley::tensor::device {

__device__ Thread this_thread() {
  const std::uint64_t threads_of_block = blockDim.x;
  return {blockIdx.x * threads_of_block + threadIdx.x, gridDim.x * threads_of_block};
}

#define PARLEY_FOLD_KERNELS(operation, lane, Format, Op)            \
  extern "C" __global__ void parley_fold_##operation##_##lane(      \
      const __grid_constant__ FewOperands arguments) {              \
    fold<Format, Op>(arguments, this_thread());                     \
  }                                                                 \
  extern "C" __global__ void parley_fold_many_##operation##_##lane( \
      const __grid_constant__ ManyOperands arguments) {             \
    fold<Format, Op>(arguments, this_thread());                     \
  }
PARLEY_LANE_FOLDS(PARLEY_FOLD_KERNELS)
PARLEY_COMPLEX_FOLDS(PARLEY_FOLD_KERNELS)
PARLEY_LOCATION_FOLDS(PARLEY_FOLD_KERNELS)

#define PARLEY_SCALE_KERNEL(operation, lane, Format, Op)        \
  extern "C" __global__ void parley_scale_##operation##_##lane( \
      const __grid_constant__ ScaleArguments arguments) {       \
    scale<Format, Op>(arguments, this_thread());                \
  }
PARLEY_LANE_SCALES(PARLEY_SCALE_KERNEL)
PARLEY_TYPE_SCALES(PARLEY_SCALE_KERNEL)

}  // namespace parley::tensor::device
