#pragma once

#include <parley/dtype.h>
#include <parley/reduce_op.h>

#include <memory>

#include "tensor/reduce/reduction.h"

namespace parley::detail {

// A reduction without a factor or function of its own, made once in a process; null: it is none, or operator
// and type do not go together. Only the first call allocates; nobody has to count who uses it.
const tensor::Reduction* plain_reduction(const ReduceOp& op, DType dtype);
// Any other one. Throws UsageError, of `operation`, where operator and type do not go together.
std::shared_ptr<const tensor::Reduction> make_reduction(const ReduceOp& op, DType dtype,
                                                        const char* operation);

}  // namespace parley::detail
