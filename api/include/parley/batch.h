#pragma once

#include <parley/process_group.h>
#include <parley/tensor.h>
#include <parley/types.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

namespace parley {

// One operation of a batch: P2POp{P2POp::isend, tensor, right}. Arguments mean what they mean to
// ProcessGroup::isend() and irecv().
//
// Where the group has NCCL (describe()), a batch of its own operations alone, all of memory on a device, with
// tag 0 and a named peer, is one operation of NCCL's: it meets such batches of the peers only, neither single
// sends and receives nor other batches, and cannot be cancelled. Then what two ranks exchange has to be in
// one batch of each. What a rank sends itself it has to receive in the same batch, as many and of the same
// sizes, in order; anything else is a UsageError. The first batch with a peer waits for that in its call,
// which ends in a TimeoutError that names who does not come. PARLEY_DEVICE_PATH=ipc is against all that.
struct P2POp {
  enum Kind : unsigned char { isend, irecv };

  Kind op = isend;
  Tensor tensor;
  int peer = 0;             // destination or source; a receive may be from any_source
  std::int64_t tag = 0;     // a receive may be for any_tag
  ProcessGroup group = {};  // not given: that of the call; of one world all
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
};

inline std::vector<Work> ProcessGroup::batch_isend_irecv(std::initializer_list<P2POp> ops) {
  return batch_isend_irecv(std::span<const P2POp>(ops.begin(), ops.size()));
}

}  // namespace parley
