#include <parley/error.h>
#include <parley/tensor.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "tensor/device_memory.h"
#include "tensor/element.h"
#include "transport/base/log.h"

// Tensors that own their memory.
namespace parley {
namespace {

// A cache line, and the widest vector register.
constexpr std::align_val_t alignment{64};

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  // At least one byte, so that owned memory always has an address.
  void* memory = ::operator new(std::max<std::size_t>(bytes, 1), alignment, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), [](std::byte* first) { ::operator delete(first, alignment); }};
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype, Device device) {
  return owning(shape, dtype, device, [&](std::size_t bytes) {
    return device.is_cpu() ? allocate(bytes) : tensor::allocate_on(device, bytes);
  });
}

Tensor Tensor::pinned(const Shape& shape, DType dtype) {
  return owning(shape, dtype, {}, tensor::allocate_pinned);
}

template <typename Allocate>
Tensor Tensor::owning(const Shape& shape, DType dtype, Device device, const Allocate& allocate_memory) {
  // Any address does for the checks of view(); the memory itself comes after them.
  static const std::byte somewhere{};
  Tensor tensor = view(&somewhere, shape, dtype, {}, {}, false);
  try {
    const std::shared_ptr<std::byte> memory = allocate_memory(tensor.bytes());
    tensor.data_ = memory.get();
    tensor.owner_ = memory;
    tensor.device_ = device;
  } catch (const std::bad_alloc&) {
    throw ResourceError(base::concat("no memory for a tensor of ", name(dtype), " with shape ",
                                     shape.to_string(), device.is_cpu() ? "" : " on ",
                                     device.is_cpu() ? "" : parley::to_string(device), ": ", tensor.bytes(),
                                     " bytes"));
  }
  return tensor;
}

Tensor Tensor::adopt(std::shared_ptr<void> memory, const Shape& shape, DType dtype, const Shape& strides,
                     Device device) {
  Tensor tensor = view(memory.get(), shape, dtype, strides, device, false);
  tensor.owner_ = std::move(memory);
  return tensor;
}

Tensor Tensor::adopt_read_only(std::shared_ptr<const void> memory, const Shape& shape, DType dtype,
                               const Shape& strides, Device device) {
  Tensor tensor = view(memory.get(), shape, dtype, strides, device, true);
  tensor.owner_ = std::move(memory);
  return tensor;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, Device device) {
  // In every type all bits zero is the number zero.
  Tensor tensor = empty(shape, dtype, device);
  if (device.is_cpu())
    std::memset(tensor.data_, 0, tensor.bytes());
  else
    tensor::fill_with_zeros(tensor.data_, tensor.bytes(), device);
  return tensor;
}

Tensor Tensor::ones(const Shape& shape, DType dtype, Device device) {
  return full(shape, 1, dtype, device);
}

Tensor Tensor::full(const Shape& shape, const Scalar& value, DType dtype, Device device) {
  if (!device.is_cpu()) return full(shape, value, dtype).to(device);
  (void)tensor::encode(value, dtype);  // refuse a value before memory is taken
  Tensor tensor = empty(shape, dtype);
  tensor.fill(value);
  return tensor;
}

Tensor Tensor::arange(const Shape& shape, DType dtype, Device device) {
  if (!device.is_cpu()) return arange(shape, dtype).to(device);
  const std::int64_t count = shape.numel();
  if (count > 0) (void)tensor::encode(count - 1, dtype);
  Tensor tensor = empty(shape, dtype);
  std::byte* at = tensor.data_;
  for (std::int64_t index = 0; index < count; ++index, at += size_of(dtype))
    std::memcpy(at, tensor::encode(index, dtype).data(), size_of(dtype));
  return tensor;
}

}  // namespace parley
