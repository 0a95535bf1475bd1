#include "api/collective/signature.h"

#include <cassert>
#include <string_view>

#include "transport/base/log.h"

namespace parley::collective {
namespace {

using base::concat;

// From the lowest bit on.
struct Field {
  int shift;
  int bits;
  [[nodiscard]] constexpr std::uint64_t mask() const { return (std::uint64_t{1} << bits) - 1; }
  // REQUIRES: it fits.
  [[nodiscard]] constexpr std::uint64_t put(std::uint64_t value) const {
    assert((value & ~mask()) == 0);
    return value << shift;
  }
  [[nodiscard]] constexpr std::uint64_t get(std::uint64_t packed) const { return packed >> shift & mask(); }
};
constexpr Field count_field{0, 13};
constexpr Field rank_order_field{13, 1};
constexpr Field no_commuting_field{14, 1};
constexpr Field device_field{15, 1};
constexpr Field root_field{16, 14};
constexpr Field reduction_field{30, 5};
constexpr Field dtype_field{35, 5};
constexpr Field operation_field{40, 4};
static_assert(operation_field.shift + operation_field.bits == packed_signature_bits);
static_assert(schedule::operation_count <= 16 && dtype_count <= 32 && ReduceOp::kind_count <= 28);

// In place of a reduction.
constexpr std::uint64_t no_reduction = 31;
constexpr std::uint64_t of_objects = 30;
constexpr std::uint64_t meeting = 29;
constexpr std::uint64_t split = 28;
constexpr const char* text_of_meeting = "the meeting of a group's ranks";
constexpr const char* text_of_split = "the split of the group's NCCL communicator";

// 0: not compared.
std::uint64_t hash_of(std::optional<std::uint64_t> count) noexcept {
  if (!count) return 0;
  const std::uint64_t spread = (*count + 1) * 0x9e3779b97f4a7c15ULL >> (64 - count_field.bits);
  return spread == 0 ? 1 : spread;
}

// "from rank 2", "to rank 2".
std::string root_text(schedule::Operation operation, std::uint64_t root) {
  const bool is_source =
      operation == schedule::Operation::broadcast || operation == schedule::Operation::scatter;
  return concat(is_source ? " from rank " : " to rank ", root);
}

std::string text_of_objects(schedule::Operation operation, std::uint64_t root) {
  switch (operation) {
    case schedule::Operation::broadcast: return concat("broadcast_object_list", root_text(operation, root));
    case schedule::Operation::scatter: return concat("scatter_object_list", root_text(operation, root));
    case schedule::Operation::gather: return concat("gather_object", root_text(operation, root));
    case schedule::Operation::all_gather: return "all_gather_object";
    default: return "something unknown";
  }
}

// "sum", "custom, which does not commute, in rank order".
std::string reduction_text(ReduceOp::Kind kind, bool commutative, bool rank_order) {
  return concat(name(kind), commutative ? "" : ", which does not commute",
                !rank_order   ? ""
                : commutative ? " in rank order"
                              : ", in rank order");
}

// `count`: "8 ", or what is said in its place.
std::string text_of(const Signature& signature, std::string_view count) {
  const schedule::Operation operation = signature.operation;
  const auto root = static_cast<std::uint64_t>(signature.root);
  if (signature.is_of_objects) return text_of_objects(operation, root);
  if (signature.is_meeting) return text_of_meeting;
  if (signature.is_split) return text_of_split;
  if (operation == schedule::Operation::barrier) return std::string(schedule::name(operation));
  const std::string reduction =
      signature.reduction
          ? concat("(", reduction_text(*signature.reduction, signature.commutative, signature.rank_order),
                   ")")
          : "";
  return concat(schedule::name(operation), reduction, " of ", count, name(signature.dtype),
                signature.is_on_devices ? " on devices" : "",
                signature.root < 0 ? "" : root_text(operation, root));
}

}  // namespace

[[gnu::hot]] std::uint64_t Signature::packed() const noexcept {
  const auto kind = is_of_objects ? of_objects
                    : is_meeting  ? meeting
                    : is_split    ? split
                    : reduction   ? static_cast<std::uint64_t>(*reduction)
                                  : no_reduction;
  return operation_field.put(static_cast<std::uint64_t>(operation)) |
         dtype_field.put(static_cast<std::uint64_t>(dtype)) | reduction_field.put(kind) |
         root_field.put(static_cast<std::uint64_t>(root) & root_field.mask()) |
         device_field.put(is_on_devices ? 1 : 0) | rank_order_field.put(rank_order ? 1 : 0) |
         no_commuting_field.put(commutative ? 0 : 1) |
         count_field.put((hash_of(count) ^ counts_hash) & count_field.mask());
}

Signature unpacked(std::uint64_t packed) noexcept {
  Signature signature;
  signature.operation = static_cast<schedule::Operation>(operation_field.get(packed));
  signature.dtype = static_cast<DType>(dtype_field.get(packed));
  const std::uint64_t kind = reduction_field.get(packed);
  signature.is_of_objects = kind == of_objects;
  signature.is_meeting = kind == meeting;
  signature.is_split = kind == split;
  if (kind < split) signature.reduction = static_cast<ReduceOp::Kind>(kind);
  if (schedule::has_root(signature.operation)) signature.root = static_cast<int>(root_field.get(packed));
  signature.rank_order = rank_order_field.get(packed) != 0;
  signature.commutative = no_commuting_field.get(packed) == 0;
  signature.is_on_devices = device_field.get(packed) != 0;
  return signature;
}

std::string describe(const Signature& signature) {
  return text_of(signature, signature.count ? concat(*signature.count, " ") : "");
}

std::string describe_other(std::uint64_t packed, std::uint64_t own) {
  const Signature other = unpacked(packed);
  if (static_cast<std::size_t>(other.operation) >= schedule::operation_count) return "something unknown";
  const std::uint64_t count_bits = count_field.mask();
  const bool differs_in_count_alone = (packed | count_bits) == (own | count_bits);
  return text_of(other, differs_in_count_alone ? "another number of " : "");
}

}  // namespace parley::collective
