#include <parley/dtype.h>

#include <array>
#include <ostream>

namespace parley {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, dtype_count> names = {
    "bytes",   "bool",    "u8",      "i8",      "i16",       "i32",        "i64",
    "f16",     "bf16",    "f32",     "f64",     "complex64", "complex128", "f8_e4m3",
    "f8_e5m2", "f32_i32", "f64_i64", "i32_i32", "i64_i64"};

}  // namespace

std::string_view name(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return index < names.size() ? names[index] : "unknown";
}

std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << name(dtype);
}

}  // namespace parley
