#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/nccl/library.h"
#include "tests/simulated_device/simulated_device.h"
#include "tests/simulated_nccl/fabric.h"

namespace parley::nccl::testing {

enum class Kind : std::uint8_t { all_reduce, reduce, broadcast, all_gather, reduce_scatter, send, receive };

// What was told to a stream by one call.
struct Operation {
  Kind kind = Kind::all_reduce;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;
  Type type = Type::u8;
  Fold fold = Fold::sum;
  std::vector<std::byte> factor = {};  // of a scaled sum: each rank's own
  int peer = 0;                        // root, or whom it is sent to or comes from
  cuda::Stream stream = nullptr;

  [[nodiscard]] bool is_message() const noexcept { return kind == Kind::send || kind == Kind::receive; }
};

// One rank's communicator, while it is alive or a kernel of it is under way.
struct Member {
  Member(Fabric& in_fabric, Meeting& in_meeting, int own_rank, int of_ranks, int on_device)
      : fabric(in_fabric), meeting(in_meeting), rank(own_rank), ranks(of_ranks), device(on_device) {}

  Fabric& fabric;
  Meeting& meeting;
  const int rank;
  const int ranks;
  const int device;
  std::uint64_t steps = 0;  // of the kernels, which come one after another, whatever their streams
  std::atomic<bool> is_aborted{false};
  std::atomic<std::uint64_t> launched{0}, ended{0};  // kernels

  [[nodiscard]] bool has_kernels() const noexcept { return ended < launched; }
};

// Whether the rank receives from itself what it sends itself, in this order, and nothing else.
[[nodiscard]] bool meets_itself(const Member& member, const std::vector<Operation>& operations);

// Tells the peers of sends and receives that this rank has come to them, and whether those have: see
// Fabric::connects_at_first_use.
void connect(const Member& member, const std::vector<Operation>& operations);
[[nodiscard]] bool are_connected(const Member& member, const std::vector<Operation>& operations);

// Does what one group told, after the `turn` kernels before it: the collectives in their order, the sends and
// receives together. Waits for the other ranks; ends early, undone, when the member is aborted.
void perform(Member& member, std::uint64_t turn, const std::vector<Operation>& operations,
             const cuda::testing::KernelMemory& memory);

}  // namespace parley::nccl::testing
