#pragma once

#include <parley/dtype.h>
#include <parley/reduce_op.h>

#include <memory>

#include "tensor/reduce/reduction.h"

namespace parley::detail {

// The reduction of a call. Those without a factor or function of their own are made once in a process: no
// allocation. Throws UsageError, of `operation`, where operator and type do not go together.
std::shared_ptr<const tensor::Reduction> reduction_of(const ReduceOp& op, DType dtype, const char* operation);

}  // namespace parley::detail
