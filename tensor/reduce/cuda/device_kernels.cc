#include "tensor/reduce/cuda/device_kernels.h"

#include "tensor/reduce/cuda/kernel_list.h"

namespace parley::tensor {
namespace {

using namespace device;  // what the lists name
using Kind = ReduceOp::Kind;

template <typename Key, typename What, typename Kernel>
struct Row {
  Key key;  // a lane or a type
  What what;
  Kernel kernel;
};

#define PARLEY_FOLD(operation, lane, Format) \
  { "parley_fold_" #operation "_" #lane, "parley_fold_many_" #operation "_" #lane, sizeof(Format::Stored) }
#define PARLEY_SCALE(operation, lane, Format) \
  { "parley_scale_" #operation "_" #lane, sizeof(Format::Stored) }
#define PARLEY_LANE_FOLD(operation, lane, Format, Op) \
  {Lane::lane, Combine::operation, PARLEY_FOLD(operation, lane, Format)},
#define PARLEY_TYPE_FOLD(operation, type, Format, Op) \
  {DType::type, Kind::operation, PARLEY_FOLD(operation, type, Format)},
enum class Scaling : std::uint8_t { multiply, divide };
#define PARLEY_LANE_SCALE(operation, lane, Format, Op) \
  {Lane::lane, Scaling::operation, PARLEY_SCALE(operation, lane, Format)},
#define PARLEY_TYPE_SCALE(operation, type, Format, Op) \
  {DType::type, Scaling::operation, PARLEY_SCALE(operation, type, Format)},

constexpr Row<Lane, Combine, DeviceFold> lane_folds[] = {PARLEY_LANE_FOLDS(PARLEY_LANE_FOLD)};
constexpr Row<DType, Kind, DeviceFold> type_folds[] = {PARLEY_COMPLEX_FOLDS(PARLEY_TYPE_FOLD)
                                                           PARLEY_LOCATION_FOLDS(PARLEY_TYPE_FOLD)};
constexpr Row<Lane, Scaling, DeviceScale> lane_scales[] = {PARLEY_LANE_SCALES(PARLEY_LANE_SCALE)};
constexpr Row<DType, Scaling, DeviceScale> type_scales[] = {PARLEY_TYPE_SCALES(PARLEY_TYPE_SCALE)};

template <typename Key, typename What, typename Kernel, std::size_t size>
Kernel find(const Row<Key, What, Kernel> (&rows)[size], Key key, What what) noexcept {
  for (const auto& row : rows)
    if (row.key == key && row.what == what) return row.kernel;
  return {};
}

}  // namespace

DeviceFold device_fold(Cell cell) noexcept {
  return find(lane_folds, cell.lane, cell.combine);
}

DeviceFold device_fold(Kind kind, DType dtype) noexcept {
  switch (fold_method(kind, dtype)) {
    case FoldMethod::function: return {};
    case FoldMethod::complex_product:
    case FoldMethod::location: return find(type_folds, dtype, kind);
    case FoldMethod::cell: break;
  }
  return device_fold(cell_of(kind, dtype));
}

DeviceScale device_prepare(DType dtype) noexcept {
  if (is_complex(dtype)) return find(type_scales, dtype, Scaling::multiply);
  return find(lane_scales, cell_of(Kind::premul_sum, dtype).lane, Scaling::multiply);
}

DeviceScale device_finish(DType dtype) noexcept {
  if (!divides_in_lane(dtype)) return find(type_scales, dtype, Scaling::divide);
  return find(lane_scales, cell_of(Kind::avg, dtype).lane, Scaling::divide);
}

}  // namespace parley::tensor
