#include <parley/error.h>
#include <parley/reduce_op.h>

#include <array>
#include <ostream>
#include <utility>

#include "tensor/element.h"
#include "transport/base/log.h"

namespace parley {
namespace {

using Kind = ReduceOp::Kind;

// In the order of the enumerators.
constexpr std::array<std::string_view, ReduceOp::kind_count> op_names = {
    "sum",  "product", "min", "max",    "avg",    "band",       "bor",
    "bxor", "land",    "lor", "minloc", "maxloc", "premul_sum", "custom"};

constexpr bool is_bitwise_or_logical(Kind kind) noexcept {
  return kind >= Kind::band && kind <= Kind::lor;
}
constexpr bool is_location(Kind kind) noexcept {
  return kind == Kind::minloc || kind == Kind::maxloc;
}

}  // namespace

ReduceOp::ReduceOp(Kind kind) : kind_(kind) {
  if (kind == Kind::premul_sum || kind == Kind::custom)
    throw UsageError(base::concat("ReduceOp: ", name(kind), " is made by ReduceOp::", name(kind), "(...)"));
}

ReduceOp::ReduceOp(Kind kind, Extra extra, bool commutative)
    : kind_(kind), commutative_(commutative), extra_(std::make_shared<const Extra>(std::move(extra))) {}

ReduceOp ReduceOp::premul_sum(const Scalar& factor) {
  return {Kind::premul_sum, {.factor = factor, .function = {}}, true};
}

ReduceOp ReduceOp::custom(ReduceFunction function, bool commutative) {
  if (!function) throw UsageError("ReduceOp::custom: the function is empty");
  return {Kind::custom, {.factor = 1, .function = std::move(function)}, commutative};
}

const Scalar& ReduceOp::factor() const {
  if (kind_ != Kind::premul_sum) throw UsageError(base::concat("ReduceOp: ", name(kind_), " has no factor"));
  return extra_->factor;
}

const ReduceFunction& ReduceOp::function() const {
  if (kind_ != Kind::custom) throw UsageError(base::concat("ReduceOp: ", name(kind_), " has no function"));
  return extra_->function;
}

std::string_view name(ReduceOp::Kind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return index < op_names.size() ? op_names[index] : "unknown";
}

std::ostream& operator<<(std::ostream& out, const ReduceOp& op) {
  return out << name(op);
}

std::string_view reason_against(ReduceOp::Kind kind, DType dtype) noexcept {
  if (name(kind) == "unknown") return "no such reduction";
  if (size_of(dtype) == 0) return "no such element type";
  if (kind == Kind::custom) return {};
  if (dtype == DType::bytes) return "bytes have no type to compute with";
  if (tensor::is_f8(dtype)) return "f8 elements are carried, not computed with";
  if (tensor::is_pair(dtype))
    return is_location(kind) ? "" : "pairs of a value and its index take minloc and maxloc only";
  if (is_location(kind)) return "minloc and maxloc take pairs of a value and its index, such as f32_i32";
  if (tensor::is_complex(dtype) && (kind == Kind::min || kind == Kind::max))
    return "complex numbers have no order";
  if ((tensor::is_complex(dtype) || tensor::is_floating_point(dtype)) && is_bitwise_or_logical(kind))
    return "bitwise and logical operations take integers and bool";
  if (dtype == DType::boolean && (kind == Kind::avg || kind == Kind::premul_sum))
    return "bool is no number to multiply or divide";
  return {};
}

}  // namespace parley
