#pragma once

#include <optional>
#include <string>
#include <utility>

#include "transport/base/status.h"

namespace parley::base {

// Why a cold operation failed: a status for code, words for people.
struct Failure {
  Status status;
  std::string message = {};
};

// A value or a Failure, for factories and other cold paths. (std::expected is C++23.)
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}              // NOLINT(google-explicit-constructor)
  Result(Failure failure) : failure_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  // REQUIRES: ok()
  [[nodiscard]] T& value() & noexcept { return *value_; }
  [[nodiscard]] const T& value() const& noexcept { return *value_; }
  [[nodiscard]] T&& value() && noexcept { return std::move(*value_); }
  // REQUIRES: !ok()
  [[nodiscard]] const Failure& failure() const noexcept { return failure_; }

 private:
  std::optional<T> value_;
  Failure failure_;
};

}  // namespace parley::base
