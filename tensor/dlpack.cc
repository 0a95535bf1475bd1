#include <parley/dlpack.h>

#include <parley/error.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "tensor/dlpack_abi.h"
#include "transport/base/log.h"

namespace parley {
namespace {

using base::concat;

struct Equivalent {
  DType dtype;
  std::uint8_t code;
  std::uint8_t bits;
};
constexpr std::array<Equivalent, 15> equivalents{{
    {DType::boolean, kDLBool, 8},
    {DType::u8, kDLUInt, 8},
    {DType::i8, kDLInt, 8},
    {DType::i16, kDLInt, 16},
    {DType::i32, kDLInt, 32},
    {DType::i64, kDLInt, 64},
    {DType::f16, kDLFloat, 16},
    {DType::bf16, kDLBfloat, 16},
    {DType::f32, kDLFloat, 32},
    {DType::f64, kDLFloat, 64},
    {DType::complex64, kDLComplex, 64},
    {DType::complex128, kDLComplex, 128},
    {DType::f8_e4m3, kDLFloat8_e4m3fn, 8},
    {DType::f8_e5m2, kDLFloat8_e5m2, 8},
    // What has no type goes out as numbers of a byte; it never comes in.
    {DType::bytes, kDLUInt, 8},
}};

DType dtype_from(const DLDataType& type) {
  for (const Equivalent& one : equivalents)
    if (one.code == type.code && one.bits == type.bits && type.lanes == 1) return one.dtype;
  throw UsageError(concat("from_dlpack: elements of type code ", static_cast<int>(type.code), ", ",
                          static_cast<int>(type.bits), " bits and ", type.lanes,
                          " lanes have no equivalent here"));
}

DLDataType dtype_to(DType dtype) {
  for (const Equivalent& one : equivalents)
    if (one.dtype == dtype) return {one.code, one.bits, 1};
  throw UsageError(concat("to_dlpack: DLPack has no ", name(dtype)));
}

Device device_from(const DLDevice& device) {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost: return {};
    case kDLCUDA:
    case kDLCUDAManaged: return {Device::cuda, device.device_id};
  }
  throw UsageError(concat("from_dlpack: memory of device type ", static_cast<int>(device.device_type),
                          " cannot be used here: the CPU's (1) and CUDA's (2, 3, 13) can"));
}

Shape shape_from(const char* what, const std::int64_t* sizes, std::int32_t count) {
  if (count < 0 || count > static_cast<std::int32_t>(Shape::max_dims))
    throw UsageError(concat("from_dlpack: ", count, " dimensions, and a tensor has up to ", Shape::max_dims));
  for (std::int32_t dim = 0; dim < count; ++dim)
    if (sizes[dim] < 0) throw UsageError(concat("from_dlpack: a negative ", what, ": ", sizes[dim]));
  return std::span<const std::int64_t>(sizes, static_cast<std::size_t>(count));
}

// Throws before `managed` is taken over.
template <typename Managed>
Tensor adopt_managed(Managed* managed, bool is_read_only) {
  const DLTensor& of = managed->dl_tensor;
  const DType dtype = dtype_from(of.dtype);
  const Device device = device_from(of.device);
  const Shape shape = shape_from("size", of.shape, of.ndim);
  const Shape strides = of.strides == nullptr ? Shape() : shape_from("stride", of.strides, of.ndim);
  auto* const first = static_cast<std::byte*>(of.data) + of.byte_offset;
  // What it refuses it refuses here already.
  (void)Tensor::from_blob(first, shape, dtype, strides, device);
  const std::shared_ptr<void> memory(first, [managed](void*) {
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
  if (is_read_only) return Tensor::adopt_read_only(memory, shape, dtype, strides, device);
  return Tensor::adopt(memory, shape, dtype, strides, device);
}

// What a deleter frees: the tensor, and the arrays that the struct points to.
template <typename Managed>
struct Lent {
  explicit Lent(const Tensor& of) : tensor(of), shape{}, strides{}, managed{} {
    std::copy(of.shape().begin(), of.shape().end(), shape.begin());
    std::copy(of.strides().begin(), of.strides().end(), strides.begin());
    DLTensor& out = managed.dl_tensor;
    out.data = const_cast<std::byte*>(of.data());  // flagged, where it is read-only
    out.device = of.device().is_cpu() ? DLDevice{kDLCPU, 0} : DLDevice{kDLCUDA, of.device().index};
    out.ndim = of.ndim();
    out.dtype = dtype_to(of.dtype());
    out.shape = shape.data();
    out.strides = strides.data();
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { delete static_cast<Lent*>(self->manager_ctx); };
  }
  Tensor tensor;
  std::array<std::int64_t, Shape::max_dims> shape;
  std::array<std::int64_t, Shape::max_dims> strides;
  Managed managed;
};

}  // namespace

Tensor from_dlpack(DLManagedTensor* tensor) {
  return adopt_managed(tensor, false);
}

Tensor from_dlpack(DLManagedTensorVersioned* tensor) {
  if (tensor->version.major != 1)
    throw UsageError(concat("from_dlpack: a tensor of DLPack ", tensor->version.major, ".",
                            tensor->version.minor, ", and this is for version 1"));
  return adopt_managed(tensor, (tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0);
}

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  if (tensor.is_read_only())
    throw UsageError("to_dlpack: the tensor is read-only, which only to_dlpack_versioned() can say");
  return &std::make_unique<Lent<DLManagedTensor>>(tensor).release()->managed;
}

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor) {
  auto lent = std::make_unique<Lent<DLManagedTensorVersioned>>(tensor);
  lent->managed.version = {1, 1};
  lent->managed.flags = tensor.is_read_only() ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return &lent.release()->managed;
}

}  // namespace parley
