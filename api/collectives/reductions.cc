#include "api/collectives/reductions.h"

#include <parley/error.h>

#include <array>
#include <cstddef>

#include "transport/base/log.h"

namespace parley::detail {

namespace {

using Row = std::array<std::unique_ptr<const tensor::Reduction>, dtype_count>;
using Table = std::array<Row, ReduceOp::kind_count>;

constexpr bool is_plain(ReduceOp::Kind kind) {
  return kind != ReduceOp::Kind::premul_sum && kind != ReduceOp::Kind::custom;
}

Table make_table() {
  Table table;
  for (std::size_t kind = 0; kind < table.size(); ++kind)
    for (std::size_t dtype = 0; dtype < dtype_count; ++dtype) {
      const auto own_kind = static_cast<ReduceOp::Kind>(kind);
      const auto own_dtype = static_cast<DType>(dtype);
      if (is_plain(own_kind) && reason_against(own_kind, own_dtype).empty())
        table[kind][dtype] = std::make_unique<const tensor::Reduction>(own_kind, own_dtype);
    }
  return table;
}

}  // namespace

const tensor::Reduction* plain_reduction(const ReduceOp& op, DType dtype) {
  if (!is_plain(op.kind())) return nullptr;
  static const Table& table = *new Table(make_table());  // never destroyed
  return table[static_cast<std::size_t>(op.kind())][static_cast<std::size_t>(dtype)].get();
}

std::shared_ptr<const tensor::Reduction> make_reduction(const ReduceOp& op, DType dtype,
                                                        const char* operation) {
  if (const auto reason = reason_against(op.kind(), dtype); !reason.empty())
    throw UsageError(base::concat(operation, ": ", name(op), " of ", name(dtype), ": ", reason));
  return std::make_shared<const tensor::Reduction>(op, dtype);
}

}  // namespace parley::detail
