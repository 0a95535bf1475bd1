#include <parley/tensor.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <limits>
#include <ostream>

#include "tensor/element.h"
#include "transport/base/log.h"

// Printing as PyTorch does: all numbers of a tensor in one format, columns aligned, long dimensions
// shortened.
namespace parley {
namespace {

constexpr std::size_t summary_threshold = 1000;  // more elements than this are shortened ...
constexpr std::int64_t edge_items = 3;           // ... to so many at each end of a dimension
constexpr std::size_t line_width = 80;
constexpr int decimals = 4;
constexpr std::string_view prefix = "tensor(";

// The one format of a column of floating-point numbers.
class NumberFormat {
 public:
  // Takes a number into account.
  void see(double value) noexcept {
    if (!std::isfinite(value) || value == 0) return;
    whole_ = whole_ && value == std::trunc(value);
    smallest_ = std::min(smallest_, std::abs(value));
    largest_ = std::max(largest_, std::abs(value));
  }
  [[nodiscard]] std::string text(double value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    std::array<char, 64> buffer{};
    const auto format = scientific() ? std::chars_format::scientific : std::chars_format::fixed;
    const int digits = whole_ && !scientific() ? 0 : decimals;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, digits).ptr;
    std::string text(buffer.data(), end);
    return digits == 0 ? text + "." : text;
  }

 private:
  // Fixed notation would lose digits of the small numbers or need many for the large ones.
  [[nodiscard]] bool scientific() const noexcept {
    return largest_ > 0 && (largest_ / smallest_ > 1000 || largest_ > 1e8 || (!whole_ && smallest_ < 1e-4));
  }
  bool whole_ = true;
  double smallest_ = std::numeric_limits<double>::infinity();
  double largest_ = 0;
};

class Printer {
 public:
  explicit Printer(const Tensor& tensor)
      : tensor_(tensor),
        number_(tensor::is_pair(tensor.dtype()) ? tensor::parts_of(tensor.dtype()).value : tensor.dtype()),
        shorten_(tensor.numel() > summary_threshold) {
    auto see = [this](const std::byte* at) {
      if (!has_point(number_)) return;
      const auto value = tensor::decode(at, number_).to<std::complex<double>>();
      real_.see(value.real());
      imaginary_.see(value.imag());
    };
    for_each_shown(tensor_.data(), 0, see);
    auto measure = [this](const std::byte* at) { width_ = std::max(width_, text(at).size()); };
    for_each_shown(tensor_.data(), 0, measure);
  }

  [[nodiscard]] std::string print() const {
    std::string out(prefix);
    if (tensor_.numel() == 0) {
      out += "[]";
      if (tensor_.ndim() != 1) out += ", shape=" + tensor_.shape().to_string();
    } else {
      append(out, tensor_.data(), 0);
    }
    if (tensor_.numel() != 1) out.append(", dtype=").append(name(tensor_.dtype()));
    return out + ")";
  }

 private:
  [[nodiscard]] static bool has_point(DType dtype) noexcept {
    return tensor::is_floating_point(dtype) || tensor::is_complex(dtype);
  }
  [[nodiscard]] bool is_shortened(std::int64_t size) const noexcept {
    return shorten_ && size > 2 * edge_items;
  }
  // The index after `index` that is shown.
  [[nodiscard]] std::int64_t next_shown(std::int64_t index, std::int64_t size) const noexcept {
    return is_shortened(size) && index + 1 == edge_items ? size - edge_items : index + 1;
  }
  [[nodiscard]] const std::byte* element(const std::byte* first, std::size_t dim,
                                         std::int64_t index) const noexcept {
    return first + tensor::offset_bytes(tensor_.strides(), dim, index, tensor_.dtype());
  }

  template <typename Fn>
  void for_each_shown(const std::byte* first, std::size_t dim, Fn& fn) const {
    if (tensor_.numel() == 0) return;
    const Shape& shape = tensor_.shape();
    if (dim == shape.size()) return fn(first);
    for (std::int64_t index = 0; index < shape[dim]; index = next_shown(index, shape[dim]))
      for_each_shown(element(first, dim, index), dim + 1, fn);
  }

  [[nodiscard]] std::string text(const std::byte* at) const {
    if (!tensor::is_pair(tensor_.dtype())) return text(at, number_);
    const DType index = tensor::parts_of(tensor_.dtype()).index;
    return "(" + text(at, number_) + ", " + text(at + size_of(number_), index) + ")";
  }

  [[nodiscard]] std::string text(const std::byte* at, DType dtype) const {
    if (dtype == DType::bytes || tensor::is_f8(dtype)) {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto value = std::to_integer<std::size_t>(*at);
      return {'0', 'x', digits[value / 16], digits[value % 16]};
    }
    const Scalar value = tensor::decode(at, dtype);
    if (dtype == DType::boolean) return value.to<bool>() ? "true" : "false";
    if (tensor::is_floating_point(dtype)) return real_.text(value.to<double>());
    if (!tensor::is_complex(dtype)) return value.to_string();
    const auto number = value.to<std::complex<double>>();
    const std::string imaginary = imaginary_.text(number.imag()) + "j";
    return real_.text(number.real()) + (imaginary.front() == '-' ? "" : "+") + imaginary;
  }

  void append(std::string& out, const std::byte* first, std::size_t dim) const {
    const Shape& shape = tensor_.shape();
    if (dim == shape.size()) {
      const std::string number = text(first);
      out.append(width_ - number.size(), ' ').append(number);
      return;
    }
    out += '[';
    const std::size_t indent = prefix.size() + dim + 1;
    const bool innermost = dim + 1 == shape.size();
    const std::size_t per_line = std::max<std::size_t>(1, (line_width - indent + 1) / (width_ + 2));
    std::size_t shown = 0;
    const auto separate = [&] {
      if (shown == 0) return;
      if (innermost && shown % per_line != 0) {
        out += ", ";
      } else {
        out.append(",").append(innermost ? 1 : shape.size() - dim - 1, '\n').append(indent, ' ');
      }
    };
    for (std::int64_t index = 0; index < shape[dim]; index = next_shown(index, shape[dim]), ++shown) {
      separate();
      if (is_shortened(shape[dim]) && index == shape[dim] - edge_items) {
        out += innermost ? " ..." : "...";
        ++shown;
        separate();
      }
      append(out, element(first, dim, index), dim + 1);
    }
    out += ']';
  }

  const Tensor& tensor_;
  DType number_;  // of the elements, or of the values of pairs
  bool shorten_;
  NumberFormat real_;
  NumberFormat imaginary_;
  std::size_t width_ = 0;
};

}  // namespace

std::string Tensor::to_string() const {
  if (!device_.is_cpu())
    return base::concat("tensor(on ", parley::to_string(device_), ", shape=", shape_.to_string(),
                        ", dtype=", name(dtype_), ")");
  return Printer(*this).print();
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << tensor.to_string();
}

}  // namespace parley
