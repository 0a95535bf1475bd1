#include <parley/dtype.h>

#include <array>
#include <ostream>

namespace parley {
namespace {

struct Entry {
  std::string_view name;
  std::size_t bytes;
};

// In the order of the enumerators.
constexpr std::array<Entry, dtype_count> entries = {{
    {"bytes", 1},
    {"bool", 1},
    {"u8", 1},
    {"i8", 1},
    {"i16", 2},
    {"i32", 4},
    {"i64", 8},
    {"f16", 2},
    {"bf16", 2},
    {"f32", 4},
    {"f64", 8},
    {"complex64", 8},
    {"complex128", 16},
    {"f8_e4m3", 1},
    {"f8_e5m2", 1},
}};

}  // namespace

std::size_t size_of(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return index < entries.size() ? entries[index].bytes : 0;
}

std::string_view name(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return index < entries.size() ? entries[index].name : "unknown";
}

std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << name(dtype);
}

}  // namespace parley
