#pragma once

#include <parley/device.h>
#include <parley/dtype.h>
#include <parley/export.h>
#include <parley/scalar.h>
#include <parley/shape.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

namespace parley {

class Tensor;

// What a Tensor can view: a span, a vector, a std::array, a C array of a type that has a dtype. A temporary
// container is refused, for the view would outlive it.
template <typename Range>
concept tensor_viewable =
    !std::same_as<std::remove_cvref_t<Range>, Tensor> && std::ranges::contiguous_range<Range> &&
    std::ranges::sized_range<Range> && std::ranges::borrowed_range<Range> &&
    has_dtype<std::remove_cv_t<std::ranges::range_value_t<Range>>>;

// Elements of one type in up to 8 dimensions: either a view of memory that somebody else keeps alive, or
// owning, with all copies sharing the memory. A Tensor is a handle, like a pointer: a const Tensor may still
// be written through; a view of const elements is read-only and may be sent, not received into.
//
// A view allocates nothing. Owned memory is aligned to 64 bytes unless it was adopted.
// Shapes and strides count elements, not bytes; strides are positive or zero.
//
// Thread-safety: as a pointer: copies may be used by several threads, elements need the caller's care.
// Errors: UsageError for misuse (and always before anything was changed); ResourceError for memory that
// cannot be had. Reading or writing elements of a tensor that is not on the CPU is a UsageError.
class PARLEY_API Tensor {
 public:
  Tensor() noexcept;  // no elements: shape [0], bytes

  // A one-dimensional view.
  template <tensor_viewable Range>
  Tensor(Range&& range) noexcept  // NOLINT(google-explicit-constructor): send(vector, 1)
      : Tensor(std::ranges::data(range), static_cast<std::size_t>(std::ranges::size(range)),
               dtype_of<std::remove_cv_t<std::ranges::range_value_t<Range>>>,
               std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>) {}

  // A view of `data`; without strides it is row-major and dense. UsageError where `data` is not the memory of
  // that device, which CUDA is asked about.
  [[nodiscard]] static Tensor from_blob(void* data, const Shape& shape, DType dtype,
                                        const Shape& strides = {}, Device device = {});
  [[nodiscard]] static Tensor from_blob(const void* data, const Shape& shape, DType dtype,
                                        const Shape& strides = {}, Device device = {});
  // A view without an element type, which matches messages of every type.
  [[nodiscard]] static Tensor bytes(void* data, std::size_t bytes);
  [[nodiscard]] static Tensor bytes(const void* data, std::size_t bytes);

  // Owning. On a device the elements are there when these return; UsageError says why there is no such
  // device. empty: indeterminate elements.
  [[nodiscard]] static Tensor empty(const Shape& shape, DType dtype = DType::f32, Device device = {});
  [[nodiscard]] static Tensor zeros(const Shape& shape, DType dtype = DType::f32, Device device = {});
  [[nodiscard]] static Tensor ones(const Shape& shape, DType dtype = DType::f32, Device device = {});
  [[nodiscard]] static Tensor full(const Shape& shape, const Scalar& value, DType dtype = DType::f32,
                                   Device device = {});
  // 0, 1, 2, ... in row-major order; arange(5) has one dimension. UsageError when the last one does not fit.
  [[nodiscard]] static Tensor arange(const Shape& shape, DType dtype = DType::f32, Device device = {});
  // Memory of the CPU that devices reach without a detour; elements are indeterminate. Needs CUDA.
  [[nodiscard]] static Tensor pinned(const Shape& shape, DType dtype = DType::f32);
  // As from_blob(), of memory that somebody else has allocated; kept alive by the tensor, its copies and its
  // parts.
  [[nodiscard]] static Tensor adopt(std::shared_ptr<void> memory, const Shape& shape, DType dtype,
                                    const Shape& strides = {}, Device device = {});
  [[nodiscard]] static Tensor adopt_read_only(std::shared_ptr<const void> memory, const Shape& shape,
                                              DType dtype, const Shape& strides = {}, Device device = {});

  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] const Shape& strides() const noexcept { return strides_; }
  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] int ndim() const noexcept { return static_cast<int>(shape_.size()); }
  [[nodiscard]] std::size_t numel() const noexcept { return numel_; }
  // Bytes of all elements: numel() times the size of one.
  [[nodiscard]] std::size_t bytes() const noexcept { return numel_ * size_of(dtype_); }
  // Row-major without gaps; sizes of 1 do not matter, and nothing is always contiguous.
  [[nodiscard]] bool is_contiguous() const noexcept { return contiguous_; }
  [[nodiscard]] bool is_read_only() const noexcept { return read_only_; }
  [[nodiscard]] bool is_owning() const noexcept { return owner_ != nullptr; }
  // Keeps owned memory alive (for Work::detach); null for a view.
  [[nodiscard]] std::shared_ptr<const void> owner() const noexcept { return owner_; }

  // The first element; on a device, an address there. May be null when there are no elements.
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  // UsageError when read-only.
  [[nodiscard]] std::byte* mutable_data() const {
    if (read_only_) [[unlikely]]
      refuse_writing();
    return data_;
  }
  // The elements of a contiguous tensor on the CPU: T is the dtype's type, or std::byte for the raw bytes of
  // any. UsageError for another T, for a non-const T of a read-only tensor, and for memory not aligned for T.
  template <typename T>
  requires has_dtype<std::remove_const_t<T>>
  [[nodiscard]] std::span<T> data_as() const {
    using Element = std::remove_const_t<T>;
    std::byte* first = elements(dtype_of<Element>, alignof(Element), !std::is_const_v<T>);
    return {reinterpret_cast<T*>(first), bytes() / sizeof(Element)};
  }

  // The only element, converted as Scalar::to does. UsageError unless there is exactly one.
  template <typename T = double>
  requires has_scalar<T>
  [[nodiscard]] T item() const { return only_element().template to<T>(); }

  // Sets every element, converted as Scalar::to does. The f8 kinds and pairs take 0 only.
  void fill(const Scalar& value) const;

  // An owning, contiguous, writable copy on the same device, or on another. Of a device's memory it is made
  // after what the current stream was told, and there when this returns; such a tensor is contiguous.
  [[nodiscard]] Tensor clone() const { return to(device_); }
  [[nodiscard]] Tensor to(Device device) const;
  // Copies the elements of `other`, which may lie on another device; in the same order, and there when this
  // returns. UsageError unless both are contiguous, and of one shape and dtype.
  void copy_from(const Tensor& other) const;

  // Views of the same memory; they share its ownership. `dim` counts from 0.
  // narrow: indices start to start + length - 1 of one dimension.
  [[nodiscard]] Tensor narrow(int dim, std::int64_t start, std::int64_t length) const;
  // select: one index of one dimension, which goes away.
  [[nodiscard]] Tensor select(int dim, std::int64_t index) const;
  // reshape: other sizes with the same product; contiguous tensors only.
  [[nodiscard]] Tensor reshape(const Shape& shape) const;

  // "tensor([1., 2., 3.], dtype=f32)": as PyTorch prints it, four decimals, beyond 1000 elements the first
  // and last three of each dimension; a single element goes without its dtype: "tensor([42.])". Raw bytes and
  // the f8 kinds are shown in hexadecimal. Of one on a device, where it is: "tensor(on cuda:0, shape=[2, 3],
  // dtype=f32)".
  [[nodiscard]] std::string to_string() const;

 private:
  // REQUIRES: so many elements are there, so that their number fits 63 bits.
  Tensor(const void* data, std::size_t count, DType dtype, bool read_only) noexcept;
  static Tensor view(const void* data, const Shape& shape, DType dtype, const Shape& strides, Device device,
                     bool read_only);
  [[noreturn]] static void refuse_writing();
  void require_cpu(const char* operation) const;
  [[nodiscard]] Tensor copy_on_cpu() const;
  template <typename Allocate>
  static Tensor owning(const Shape& shape, DType dtype, Device device, const Allocate& allocate_memory);
  std::size_t require_dim(const char* operation, int dim) const;
  std::byte* elements(DType dtype, std::size_t alignment, bool writable) const;
  [[nodiscard]] Scalar only_element() const;

  std::byte* data_ = nullptr;  // not written through when read_only_
  std::size_t numel_ = 0;
  Shape shape_;
  Shape strides_;
  std::shared_ptr<const void> owner_;
  Device device_;
  DType dtype_ = DType::bytes;
  bool read_only_ = false;
  bool contiguous_ = true;
};

PARLEY_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace parley
