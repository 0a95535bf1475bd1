#pragma once

#include <parley/batch.h>
#include <parley/work.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/group_state.h"

// Batches of sends and receives on devices, as one operation of NCCL.
//
// NCCL matches what two ranks send each other in its order alone. So beside it a message without content goes
// from each sender to its receiver: their requests are what the Works of the batch wait for, they name who
// does not come, and they match only where number and size agree.
namespace parley::detail {

// The tag of such a message.
struct FusedTag {
  static constexpr int size_bits = 40;
  static constexpr std::uint64_t numbers = std::uint64_t{1} << 22;  // then they begin again

  std::uint64_t number = 0;  // of the send among those to this rank, of the receive among those from it
  std::uint64_t bytes = 0;

  [[nodiscard]] constexpr std::int64_t packed() const noexcept {
    constexpr std::uint64_t size_mask = (std::uint64_t{1} << size_bits) - 1;
    return static_cast<std::int64_t>((number % numbers) << size_bits | (bytes & size_mask));
  }
  [[nodiscard]] static constexpr FusedTag unpack(std::int64_t tag) noexcept {
    const auto bits = static_cast<std::uint64_t>(tag);
    return {bits >> size_bits, bits & ((std::uint64_t{1} << size_bits) - 1)};
  }
};

// Posts the operations as one, if they are what NCCL can fuse: all of this group, of memory of one device,
// with tag 0 and a named peer, and the group has NCCL. False: nothing was done. REQUIRES: all are checked,
// and `works` are as many and empty. Throws as device_path_of(); UsageError where what it sends itself is not
// what it receives from itself, and nothing was done; and where NCCL does not begin why not:
// TimeoutError names a peer that has not come. Then the works are to be dropped, which takes back what was
// posted.
bool post_fused(const std::shared_ptr<GroupState>& group, std::span<const P2POp> ops, std::span<Work> works);

}  // namespace parley::detail
