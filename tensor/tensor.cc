#include <parley/tensor.h>

#include <parley/error.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tensor/device_memory.h"
#include "tensor/element.h"
#include "transport/base/log.h"

namespace parley {
namespace {

using base::concat;

Shape contiguous_strides(const Shape& shape) {
  std::array<std::int64_t, Shape::max_dims> strides{};
  std::int64_t stride = 1;
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= std::max<std::int64_t>(shape[dim], 1);  // Shape::numel() has excluded an overflow
  }
  return std::span<const std::int64_t>(strides.data(), shape.size());
}

// The shape with another size in one dimension.
Shape with_size(const Shape& shape, std::size_t dim, std::int64_t size) {
  std::array<std::int64_t, Shape::max_dims> sizes{};
  std::copy(shape.begin(), shape.end(), sizes.begin());
  sizes[dim] = size;
  return std::span<const std::int64_t>(sizes.data(), shape.size());
}

Shape without_dim(const Shape& shape, std::size_t dim) {
  std::array<std::int64_t, Shape::max_dims> sizes{};
  auto* const after = std::copy(shape.begin(), shape.begin() + dim, sizes.begin());
  std::copy(shape.begin() + dim + 1, shape.end(), after);
  return std::span<const std::int64_t>(sizes.data(), shape.size() - 1);
}

bool dense_row_major(const Shape& shape, const Shape& strides) noexcept {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  std::int64_t expected = 1;
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] != 1 && strides[dim] != expected) return false;
    expected *= shape[dim];
  }
  return true;
}

// Throws unless all bytes from the first to the last element can be addressed.
void require_addressable(const Shape& shape, const Shape& strides, DType dtype) {
  const auto element_bytes = static_cast<std::int64_t>(size_of(dtype));
  std::int64_t dense = 0;
  bool overflow = __builtin_mul_overflow(shape.numel(), element_bytes, &dense);
  std::int64_t last = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    std::int64_t distance = 0;
    overflow |= __builtin_mul_overflow(std::max<std::int64_t>(shape[dim] - 1, 0), strides[dim], &distance);
    overflow |= __builtin_add_overflow(last, distance, &last);
  }
  overflow |= __builtin_add_overflow(last, std::int64_t{1}, &last);
  overflow |= __builtin_mul_overflow(last, element_bytes, &last);
  if (overflow)
    throw UsageError(concat("a tensor of ", name(dtype), " with shape ", shape.to_string(), " and strides ",
                            strides.to_string(), " is larger than the address space"));
}

}  // namespace

Tensor::Tensor() noexcept : shape_(0), strides_(1) {}

Tensor::Tensor(const void* data, std::size_t count, DType dtype, bool read_only) noexcept
    : data_(static_cast<std::byte*>(const_cast<void*>(data))),
      numel_(count),
      shape_(Shape::OneDimension(), static_cast<std::int64_t>(count)),
      strides_(Shape::OneDimension(), 1),
      dtype_(dtype),
      read_only_(read_only) {}

Tensor Tensor::view(const void* data, const Shape& shape, DType dtype, const Shape& strides, Device device,
                    bool read_only) {
  if (size_of(dtype) == 0) throw UsageError(concat(static_cast<int>(dtype), " is no element type"));
  const auto numel = static_cast<std::size_t>(shape.numel());
  if (data == nullptr && numel > 0)
    throw UsageError(concat("null data for a tensor of shape ", shape.to_string()));
  if (!device.is_cpu() && numel > 0) tensor::require_memory_of("from_blob", data, device);
  if (strides.size() != 0 && strides.size() != shape.size())
    throw UsageError(concat("strides ", strides.to_string(), " do not fit shape ", shape.to_string()));
  Tensor tensor(data, numel, dtype, read_only);
  tensor.shape_ = shape;
  tensor.strides_ = strides.size() == 0 ? contiguous_strides(shape) : strides;
  require_addressable(shape, tensor.strides_, dtype);
  tensor.device_ = device;
  tensor.contiguous_ = dense_row_major(shape, tensor.strides_);
  return tensor;
}

Tensor Tensor::from_blob(void* data, const Shape& shape, DType dtype, const Shape& strides, Device device) {
  return view(data, shape, dtype, strides, device, false);
}

Tensor Tensor::from_blob(const void* data, const Shape& shape, DType dtype, const Shape& strides,
                         Device device) {
  return view(data, shape, dtype, strides, device, true);
}

Tensor Tensor::bytes(void* data, std::size_t bytes) {
  return from_blob(data, bytes, DType::bytes);
}

Tensor Tensor::bytes(const void* data, std::size_t bytes) {
  return from_blob(data, bytes, DType::bytes);
}

void Tensor::refuse_writing() {
  throw UsageError("this tensor is read-only: it views const elements");
}

void Tensor::require_cpu(const char* operation) const {
  if (!device_.is_cpu())
    throw UsageError(concat(operation, ": the tensor is on ", parley::to_string(device_),
                            " and its elements can be read and written on the CPU only: take "
                            "to(parley::Device{})"));
}

std::size_t Tensor::require_dim(const char* operation, int dim) const {
  if (dim < 0 || dim >= ndim())
    throw UsageError(concat(operation, ": there is no dimension ", dim, " in shape ", shape_.to_string()));
  return static_cast<std::size_t>(dim);
}

std::byte* Tensor::elements(DType dtype, std::size_t alignment, bool writable) const {
  require_cpu("data_as");
  if (dtype != dtype_ && dtype != DType::bytes)
    throw UsageError(concat("data_as: the elements are ", name(dtype_), ", not ", name(dtype)));
  if (!contiguous_)
    throw UsageError(concat("data_as: shape ", shape_.to_string(), " with strides ", strides_.to_string(),
                            " is not contiguous"));
  if (reinterpret_cast<std::uintptr_t>(data_) % alignment != 0)
    throw UsageError(concat("data_as: the memory is not aligned to ", alignment, " bytes"));
  return writable ? mutable_data() : data_;
}

Scalar Tensor::only_element() const {
  if (numel_ != 1)
    throw UsageError(concat("item: exactly one element is needed, but the shape is ", shape_.to_string()));
  require_cpu("item");
  return tensor::decode(data_, dtype_);
}

void Tensor::fill(const Scalar& value) const {
  require_cpu("fill");
  std::byte* first = mutable_data();
  const auto element = tensor::encode(value, dtype_);
  const std::size_t element_bytes = size_of(dtype_);
  auto write = [&](std::byte* at) { std::memcpy(at, element.data(), element_bytes); };
  if (!contiguous_) return tensor::for_each_element(first, shape_, strides_, dtype_, write);
  if (numel_ == 0) return;
  write(first);
  // Doubles what is filled: as fast as memcpy, for any element size.
  for (std::size_t done = element_bytes; done < bytes(); done *= 2)
    std::memcpy(first + done, first, std::min(done, bytes() - done));
}

Tensor Tensor::to(Device device) const {
  if (device_.is_cpu() && device.is_cpu()) return copy_on_cpu();
  if (!contiguous_) {
    if (device_.is_cpu()) return copy_on_cpu().to(device);
    throw UsageError(concat("to: a tensor on ", parley::to_string(device_), " with shape ",
                            shape_.to_string(), " and strides ", strides_.to_string(),
                            " is not contiguous, and cannot be copied"));
  }
  Tensor copy = empty(shape_, dtype_, device);
  tensor::copy(copy.data_, data_, bytes(), device_.is_cpu() ? device : device_);
  return copy;
}

void Tensor::copy_from(const Tensor& other) const {
  std::byte* const to = mutable_data();
  if (shape_ != other.shape_ || dtype_ != other.dtype_)
    throw UsageError(concat("copy_from: elements of shape ", other.shape_.to_string(), " and ",
                            name(other.dtype_), " do not go into a tensor of shape ", shape_.to_string(),
                            " and ", name(dtype_)));
  if (!contiguous_ || !other.contiguous_) throw UsageError("copy_from: both tensors must be contiguous");
  if (device_.is_cpu() && other.device_.is_cpu()) {
    if (numel_ != 0) std::memmove(to, other.data_, bytes());
  } else {
    tensor::copy(to, other.data_, bytes(), other.device_.is_cpu() ? device_ : other.device_);
  }
}

Tensor Tensor::copy_on_cpu() const {
  Tensor copy = empty(shape_, dtype_);
  std::byte* to = copy.data_;
  if (contiguous_) {
    if (numel_ != 0) std::memcpy(to, data_, bytes());
    return copy;
  }
  const std::size_t element_bytes = size_of(dtype_);
  auto append = [&](const std::byte* at) {
    std::memcpy(to, at, element_bytes);
    to += element_bytes;
  };
  tensor::for_each_element(static_cast<const std::byte*>(data_), shape_, strides_, dtype_, append);
  return copy;
}

Tensor Tensor::narrow(int dim, std::int64_t start, std::int64_t length) const {
  const std::size_t at = require_dim("narrow", dim);
  if (start < 0 || length < 0 || start > shape_[at] || length > shape_[at] - start)
    throw UsageError(concat("narrow: ", length, " from ", start, " does not lie in dimension ", dim,
                            " of shape ", shape_.to_string()));
  Tensor part = *this;
  part.shape_ = with_size(shape_, at, length);
  part.numel_ = static_cast<std::size_t>(part.shape_.numel());
  part.contiguous_ = dense_row_major(part.shape_, part.strides_);
  // Without elements there may be no memory to point into.
  if (part.numel_ != 0) part.data_ += tensor::offset_bytes(strides_, at, start, dtype_);
  return part;
}

Tensor Tensor::select(int dim, std::int64_t index) const {
  const std::size_t at = require_dim("select", dim);
  if (index < 0 || index >= shape_[at])
    throw UsageError(
        concat("select: there is no index ", index, " in dimension ", dim, " of shape ", shape_.to_string()));
  Tensor part = narrow(dim, index, 1);
  part.shape_ = without_dim(shape_, at);
  part.strides_ = without_dim(strides_, at);
  return part;
}

Tensor Tensor::reshape(const Shape& shape) const {
  if (!contiguous_)
    throw UsageError(concat("reshape: shape ", shape_.to_string(), " with strides ", strides_.to_string(),
                            " is not contiguous"));
  if (static_cast<std::size_t>(shape.numel()) != numel_)
    throw UsageError(
        concat("reshape: shape ", shape_.to_string(), " has other elements than ", shape.to_string()));
  Tensor same = *this;
  same.shape_ = shape;
  same.strides_ = contiguous_strides(shape);
  return same;
}

}  // namespace parley
