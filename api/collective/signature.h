#pragma once

#include <parley/dtype.h>
#include <parley/reduce_op.h>

#include <cstdint>
#include <optional>
#include <string>

#include "api/schedule/operation.h"
#include "transport/protocol/specs.h"

namespace parley::collective {

// What the ranks of one collective have to agree on.
struct Signature {
  schedule::Operation operation = schedule::Operation::barrier;
  DType dtype = DType::bytes;
  std::optional<ReduceOp::Kind> reduction = std::nullopt;  // where something is folded
  int root = -1;                                           // in the group; -1: there is none
  std::optional<std::uint64_t> count = std::nullopt;       // nothing: ranks may differ
  std::uint64_t counts_hash = 0;                           // of the blocks, where all ranks know all of them
  bool rank_order = false;                                 // as in Question: who folds what depends on both
  bool commutative = true;
  bool is_of_objects = false;  // broadcast_object_list, ...
  bool is_on_devices = false;  // where the tensors are: on all ranks, or on none
  bool is_meeting = false;  // the ranks tell each other how they can be reached, before the first other one
  bool is_split = false;    // a barrier, while NCCL splits the ranks' communicator

  // As it travels beside every message of the collective (transport::note_bits): all of it, but for the
  // count, of which a hash has to do, and for the root, of which the lowest 14 bits do.
  [[nodiscard]] std::uint64_t packed() const noexcept;
};
// What those bits tell, which may be any: neither the count nor `counts_hash`.
[[nodiscard]] Signature unpacked(std::uint64_t packed) noexcept;
inline constexpr int packed_signature_bits = 44;
static_assert(packed_signature_bits <= transport::note_bits);

// For people: "all_reduce(sum) of 1024 f32", "broadcast of 8 f64 on devices from rank 2", "gather_object to
// rank 2".
std::string describe(const Signature& signature);
// The same of what a message has brought, packed, next to our own: "broadcast of f64 from rank 2"; where
// nothing but the count differs, "all_reduce(sum) of another number of f32". Any bits are described.
std::string describe_other(std::uint64_t packed, std::uint64_t own);

}  // namespace parley::collective
