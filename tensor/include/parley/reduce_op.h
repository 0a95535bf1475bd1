#pragma once

#include <parley/dtype.h>
#include <parley/export.h>
#include <parley/scalar.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string_view>

namespace parley {

// A reduction of the user: result[i] := left[i] op right[i] for `count` elements of `dtype`. `result` may be
// `left` or `right`, never a part of one. Associative, and the same on every rank. Called with any count of
// at least 1, on whichever thread makes progress; pointers are aligned as the tensors are. It must not throw
// (that ends the process) and must not call Parley.
using ReduceFunction =
    std::function<void(void* result, const void* left, const void* right, std::size_t count, DType dtype)>;

// How a collective combines the elements of its ranks: `{.op = parley::ReduceOp::sum}`.
//
// Of which element types:
//   sum, product         numbers; integers wrap around. bool: or, and.
//   min, max             integers, floating point; bool: and, or. A NaN wins; -0 is less than +0.
//   avg                  numbers: the sum, divided by the group's size. Integers: towards zero, and the sum
//   wraps. band, bor, bxor      integers, bool land, lor            integers (the result is 0 or 1), bool
//   minloc, maxloc       pairs: the least or greatest value with its index, of equal ones (-0 and +0 are) the
//                        lowest index. A NaN wins, and the one with the lowest index among them.
//   premul_sum(factor)   numbers: the sum of factor times each rank's elements. Ranks may differ in the
//   factor. custom(fn)           all, bytes and f8 included
// A bool is true when its byte is not 0. 16-bit floating-point types are combined as float, with one rounding
// for each pass over the operands. Where numbers are combined, a NaN comes out as the quiet one without
// payload.
//
// Cheap to copy: one reference count where there is a factor or a function, none otherwise. Immutable.
class PARLEY_API ReduceOp {
 public:
  // The numbers travel between processes: never change one.
  enum class Kind : std::uint8_t {
    sum = 0,
    product = 1,
    min = 2,
    max = 3,
    avg = 4,
    band = 5,
    bor = 6,
    bxor = 7,
    land = 8,
    lor = 9,
    minloc = 10,
    maxloc = 11,
    premul_sum = 12,
    custom = 13,
  };
  static constexpr int kind_count = 14;

  static constexpr Kind sum = Kind::sum;
  static constexpr Kind product = Kind::product;
  static constexpr Kind min = Kind::min;
  static constexpr Kind max = Kind::max;
  static constexpr Kind avg = Kind::avg;
  static constexpr Kind band = Kind::band;
  static constexpr Kind bor = Kind::bor;
  static constexpr Kind bxor = Kind::bxor;
  static constexpr Kind land = Kind::land;
  static constexpr Kind lor = Kind::lor;
  static constexpr Kind minloc = Kind::minloc;
  static constexpr Kind maxloc = Kind::maxloc;
  [[nodiscard]] static ReduceOp premul_sum(const Scalar& factor);
  // UsageError for an empty function. `commutative` says that the order of left and right never matters;
  // without it ranks are combined in their order.
  [[nodiscard]] static ReduceOp custom(ReduceFunction function, bool commutative);

  // UsageError for premul_sum and custom, which need more than their name.
  ReduceOp(Kind kind);  // NOLINT(google-explicit-constructor): {.op = ReduceOp::sum}

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  // Whether operands may change places. (They may always be grouped differently.)
  [[nodiscard]] bool is_commutative() const noexcept { return commutative_; }
  // UsageError unless premul_sum.
  [[nodiscard]] const Scalar& factor() const;
  // UsageError unless custom.
  [[nodiscard]] const ReduceFunction& function() const;

 private:
  struct Extra {
    Scalar factor;
    ReduceFunction function;
  };
  ReduceOp(Kind kind, Extra extra, bool commutative);

  Kind kind_;
  bool commutative_ = true;
  std::shared_ptr<const Extra> extra_;  // null for the plain ones
};

// "sum", "premul_sum"; "unknown" for a number that is no Kind. The text is static.
[[nodiscard]] PARLEY_API std::string_view name(ReduceOp::Kind kind) noexcept;
[[nodiscard]] inline std::string_view name(const ReduceOp& op) noexcept {
  return name(op.kind());
}
PARLEY_API std::ostream& operator<<(std::ostream& out, const ReduceOp& op);

// Why elements of this type cannot be combined so: "complex numbers have no order". Empty when they can. The
// text is static.
[[nodiscard]] PARLEY_API std::string_view reason_against(ReduceOp::Kind kind, DType dtype) noexcept;

}  // namespace parley
