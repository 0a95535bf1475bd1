#include "tests/unit/tensor/host_kernels.h"

#include <cstring>
#include <stdexcept>

#include "tensor/reduce/cuda/kernel_list.h"
#include "tensor/reduce/cuda/loops.h"

namespace parley::tests {
namespace {

using namespace tensor;          // what the lists name
using namespace tensor::device;  // NOLINT(google-build-using-namespace)

template <std::size_t most>
void translate(FoldArguments<most>& arguments, const Reach& reach) {
  arguments.to = reach(arguments.to);
  for (std::uint64_t i = 0; i < arguments.operand_count; ++i)
    arguments.operands[i] = reach(arguments.operands[i]);
}
void translate(ScaleArguments& arguments, const Reach& reach) {
  arguments.to = reach(arguments.to);
  arguments.from = reach(arguments.from);
}

template <typename Arguments, void (*body)(const Arguments&, Thread) noexcept>
void run(std::span<const std::byte> bytes, std::uint64_t threads, const Reach& reach) {
  Arguments arguments;
  if (bytes.size() != sizeof(arguments)) throw std::invalid_argument("not the arguments of this kernel");
  std::memcpy(&arguments, bytes.data(), sizeof(arguments));
  translate(arguments, reach);
  for (std::uint64_t index = 0; index < threads; ++index) body(arguments, {index, threads});
}

}  // namespace

const std::map<std::string, HostKernel, std::less<>>& host_kernels() {
#define PARLEY_HOST_FOLDS(operation, lane, Format, Op)                                    \
  {"parley_fold_" #operation "_" #lane, run<FewOperands, fold<Format, Op, FewOperands>>}, \
      {"parley_fold_many_" #operation "_" #lane, run<ManyOperands, fold<Format, Op, ManyOperands>>},
#define PARLEY_HOST_SCALE(operation, lane, Format, Op) \
  {"parley_scale_" #operation "_" #lane, run<ScaleArguments, scale<Format, Op>>},
  static const std::map<std::string, HostKernel, std::less<>> kernels = {
      PARLEY_LANE_FOLDS(PARLEY_HOST_FOLDS) PARLEY_COMPLEX_FOLDS(PARLEY_HOST_FOLDS)
          PARLEY_LOCATION_FOLDS(PARLEY_HOST_FOLDS) PARLEY_LANE_SCALES(PARLEY_HOST_SCALE)
              PARLEY_TYPE_SCALES(PARLEY_HOST_SCALE)};
  return kernels;
}

}  // namespace parley::tests
