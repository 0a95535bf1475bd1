#include "tensor/reduce/cuda/device_reduction.h"

#include <parley/error.h>

#include <algorithm>
#include <cstring>

#include "tensor/reduce/cuda/arguments.h"
#include "tensor/reduce/cuda/launch.h"
#include "transport/base/log.h"

namespace parley::tensor {
namespace {

using Kind = ReduceOp::Kind;

static_assert(DeviceReduction::most_operands == device::ManyOperands::most_operands);

const ReduceOp& checked_for_device(const ReduceOp& op, DType dtype) {
  if (op.kind() == Kind::custom)
    throw UsageError(base::concat(name(op), " of ", name(dtype),
                                  " in the memory of a device: a function of the user runs on the CPU only"));
  return checked(op, dtype);
}

// The rest of `operands` is left as it is: a kernel reads no more than operand_count.
template <typename Arguments>
Arguments fold_arguments(void* to, std::span<const void* const> operands, const device::Walk& walk) noexcept {
  Arguments arguments;
  arguments.to = to;
  arguments.walk = walk;
  arguments.operand_count = operands.size();
  std::copy(operands.begin(), operands.end(), arguments.operands);
  return arguments;
}

}  // namespace

DeviceReduction::DeviceReduction(cuda::Api& api, const ReduceOp& op, DType dtype)
    : api_(&api), dtype_(dtype), op_(checked_for_device(op, dtype)) {
  fold_ = device_fold(op.kind(), dtype);
  if (op.kind() == Kind::avg) finish_ = device_finish(dtype);
  if (op.kind() == Kind::premul_sum) {
    prepare_ = device_prepare(dtype);
    factor_ = factor_of(op, dtype);
  }
}

cuda::Code DeviceReduction::fold(void* to, std::span<const void* const> operands, std::size_t count,
                                 cuda::Stream stream) const noexcept {
  if (operands.empty() || operands.size() > most_operands) return cuda::Code::invalid_value;
  const device::Walk walk = device::walk_over(count * size_of(dtype_), fold_.number_bytes, to, operands);
  if (operands.size() <= device::FewOperands::most_operands)
    return launch(*api_, fold_.few, walk, fold_arguments<device::FewOperands>(to, operands, walk), stream);
  return launch(*api_, fold_.many, walk, fold_arguments<device::ManyOperands>(to, operands, walk), stream);
}

cuda::Code DeviceReduction::prepare(void* to, const void* from, std::size_t count,
                                    cuda::Stream stream) const noexcept {
  return scale(prepare_, to, from, count, factor_, stream);
}

cuda::Code DeviceReduction::finish(void* elements, std::size_t count, std::int64_t ranks,
                                   cuda::Stream stream) const noexcept {
  return scale(finish_, elements, elements, count, divisor_of(dtype_, ranks), stream);
}

cuda::Code DeviceReduction::scale(const DeviceScale& kernel, void* to, const void* from, std::size_t count,
                                  const ElementBytes& factor, cuda::Stream stream) const noexcept {
  device::ScaleArguments arguments = {.to = to, .from = from, .walk = {}, .factor = {}};
  arguments.walk = device::walk_over(count * size_of(dtype_), kernel.number_bytes, to, {&from, 1});
  std::memcpy(arguments.factor, factor.data(), factor.size());
  return launch(*api_, kernel.name, arguments.walk, arguments, stream);
}

}  // namespace parley::tensor
