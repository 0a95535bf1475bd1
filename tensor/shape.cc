#include <parley/shape.h>

#include <parley/error.h>

#include <algorithm>
#include <ostream>

#include "transport/base/log.h"

namespace parley {

Shape::Shape(std::span<const std::int64_t> sizes) {
  for (const auto size : sizes) append_checked(size);
}

void Shape::append_checked(std::int64_t size) {
  if (size < 0) throw UsageError(base::concat("a shape cannot hold the negative size ", size));
  if (count_ == max_dims) throw UsageError(base::concat("a tensor has at most ", max_dims, " dimensions"));
  sizes_[count_++] = size;
}

void Shape::refuse_size() {
  throw UsageError("a shape cannot hold a size beyond 2^63 - 1");
}

std::int64_t Shape::numel() const {
  std::int64_t product = 1;
  for (const auto size : *this)
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(size, 1), &product))
      throw UsageError(base::concat("shape ", to_string(), " has more elements than fit 63 bits"));
  return std::find(begin(), end(), 0) != end() ? 0 : product;
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (const auto size : *this) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << shape.to_string();
}

}  // namespace parley
