#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace parley::base {

static_assert(std::endian::native == std::endian::little, "the wire formats are little endian");

using Bytes = std::vector<std::byte>;

// Appends fixed-size integers and length-prefixed strings to a buffer, little endian.
class WireWriter {
 public:
  template <typename Integer>
  requires std::is_integral_v<Integer> || std::is_enum_v<Integer> WireWriter& put(Integer value) {
    append(&value, sizeof(value));
    return *this;
  }
  WireWriter& put_bytes(std::span<const std::byte> value) {
    put(static_cast<std::uint32_t>(value.size()));
    append(value.data(), value.size());
    return *this;
  }
  WireWriter& put_string(std::string_view value) { return put_bytes(std::as_bytes(std::span(value))); }
  [[nodiscard]] const Bytes& bytes() const& noexcept { return bytes_; }
  [[nodiscard]] Bytes bytes() && noexcept { return std::move(bytes_); }

 private:
  void append(const void* data, std::size_t size);

  Bytes bytes_;
};

// Reads what WireWriter wrote, from bytes that need not be trusted: every getter checks the bounds, and after
// the first failure all return nothing.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

  template <typename Integer>
  requires std::is_integral_v<Integer> || std::is_enum_v<Integer> std::optional<Integer> get()
  noexcept {
    if (left_.size() < sizeof(Integer)) return fail();
    Integer value;
    std::memcpy(&value, left_.data(), sizeof(value));
    left_ = left_.subspan(sizeof(value));
    return value;
  }
  // A view into the input.
  std::optional<std::span<const std::byte>> get_bytes() noexcept {
    const auto size = get<std::uint32_t>();
    if (!size || *size > left_.size()) return fail();
    const auto value = left_.first(*size);
    left_ = left_.subspan(*size);
    return value;
  }
  std::optional<std::string> get_string() {
    const auto value = get_bytes();
    if (!value) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(value->data()), value->size());
  }
  [[nodiscard]] bool finished() const noexcept { return !failed_ && left_.empty(); }

 private:
  std::nullopt_t fail() noexcept {
    failed_ = true;
    left_ = {};
    return std::nullopt;
  }
  std::span<const std::byte> left_;
  bool failed_ = false;
};

}  // namespace parley::base
